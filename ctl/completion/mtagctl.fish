# SPDX-License-Identifier: GPL-2.0
# fish completion of mtagctl(8), which itself knows what can come next: see `mtagctl help complete`.

function __mtagctl_answer
    set -l words (commandline -opc)
    type -q mtagctl
    and command mtagctl complete -- $words[2..] (string unescape -- (commandline -ct); or echo) 2>/dev/null
end

function __mtagctl_complete
    set -l answer (__mtagctl_answer)
    set -l rest (string split -m 1 ' ' -- $answer[1])[2]
    switch "$answer[1]"
        case words
            printf '%s\n' $answer[2..]
        case 'directories*'
            __fish_complete_directories (string replace -- "$rest" '' (commandline -ct)) '' | string replace -r '^' -- "$rest"
        case 'command*'
            set -l words (commandline -opc)
            complete -C (string join ' ' -- (string escape -- $words[(math $rest + 2)..]) (commandline -ct))
    end
end

complete -c mtagctl -f -a '(__mtagctl_complete)'
complete -c mtagctl -n '__mtagctl_answer | string match -q "files*"' -F
