# SPDX-License-Identifier: GPL-2.0
"""What a new kernel changed for the functions that mtag hooks, those that call them, and the structures it reads."""
import re

import lists as mtag

FAMILY = re.compile(r"(folio|page)_(add|remove)_(new_|anon_|file_)*rmap(_\w+)?")


class Findings:
    """What is to be said, and how much there is not."""

    def __init__(self):
        self.must, self.look, self.unchanged = [], [], {}

    def same(self, kind):
        self.unchanged[kind] = self.unchanged.get(kind, 0) + 1

    def add(self, group, subject, text):
        if (subject, text) not in group:
            group.append((subject, text))


def some(names, most=6):
    names = sorted(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


class Rules:
    """Compares two kernels by the lists of the first."""

    def __init__(self, old, new, lists, kmod, reads):
        self.old, self.new, self.lists = old, new, lists
        self.kmod = mtag.sources(kmod)
        self.reads = reads
        self.found = Findings()
        self.old_pages, self.new_pages = self.pages(old), self.pages(new)

    def must(self, subject, text):
        self.found.add(self.found.must, subject, text)

    def look(self, subject, text):
        self.found.add(self.found.look, subject, text)

    def callers(self, kernel, function):
        """The functions that call it, each without .isra.0 and the like."""
        whole = kernel.image.whole
        return {whole(caller) for each in {function} | kernel.image.parts.get(function, set())
                for caller in kernel.image.callers.get(each, ())} - {function}

    def neighbours(self, kernel, function):
        """Who calls a function and what it calls, each with what it is worth for telling functions apart."""
        image = kernel.image
        found = {("by", caller): 1 for caller in self.callers(kernel, function)}
        for each in {function} | image.parts.get(function, set()):
            for callee in image.calls.get(each, ()):
                found["to", image.whole(callee)] = 1 / len(image.callers[callee])
        return found

    def replacements(self, function):
        """New functions that have about the same callers, and call about the same."""
        was, scores = self.neighbours(self.old, function), {}
        near = set()
        for way, name in was:
            near |= self.callers(self.new, name) if way == "to" else set(self.new.image.calls.get(name, ()))
        for name in near - set(self.old.image.sizes):
            name = self.new.image.whole(name)
            now = self.neighbours(self.new, name)
            shared = sum(worth for each, worth in was.items() if each in now)
            scores[name] = shared / (sum(was.values()) + sum(now.values()) - shared)
        return [name for name in sorted(scores, key=lambda each: -scores[each])[:3] if scores[name] > 0.08]

    def instead(self, function):
        """In words: what may have taken the place of a function that is gone, and who calls that."""
        words = [f"{name} (called by {some(self.callers(self.new, name)) or 'nobody directly'})"
                 for name in self.replacements(function)]
        return f" New functions like it: {'; '.join(words)}." if words else ""

    def gone(self, function):
        """In words, why a function is none of the new kernel's."""
        image, source = self.new.image, self.new.source
        if image.parts.get(function):
            return (f"the compiler made {some(image.parts[function])} of it, whose arguments need not be those of the "
                    "source.")
        if source and source.has(function):
            return f"{source.find(function)[0]} has it, but the compiler has inlined it." + self.instead(function)
        return f"{self.new.name} has no such function." + self.instead(function)

    def hook(self, function):
        subject, image = f"hook {function}", self.new.image
        said = len(self.found.must) + len(self.found.look)
        if function not in image.sizes:
            self.must(subject, self.gone(function))
            return
        if function not in image.traceable:
            self.must(subject, f"ftrace cannot hook it in {self.new.name}.")
        split = {part for part in image.parts.get(function, ()) if not part.endswith(".cold")}
        if split - self.old.image.parts.get(function, set()):
            self.must(subject, f"the compiler has split off {some(split)}, which callers reach past the hook.")
        if function in self.old.image.sizes:
            self.signature(subject, function)
            self.inlined(subject, function)
        if said == len(self.found.must) + len(self.found.look):
            self.found.same("hooks")

    def signature(self, subject, function):
        was, now = (kernel.types.parameters(function) for kernel in (self.old, self.new))
        if was == now:
            return
        if was is None or now is None:
            self.look(subject, f"only one of the kernels has its arguments in BTF: {self.declared(was or now)}.")
            return
        read = self.reads.get(function, ())
        changed = [i for i in range(max(len(was), len(now))) if was[i:i + 1] != now[i:i + 1]]
        text = f"its arguments were ({self.declared(was)}), and are ({self.declared(now)})."
        # A new name for the same type is a new name, unless several arguments changed places.
        hit = [i for i in changed if i in read and (
            was[i:i + 1] == [] or now[i:i + 1] == [] or was[i][1] != now[i][1] or
            now[i][0] in [name for name, _ in was])]
        if hit:
            self.must(subject, text + " mtag reads " + " and ".join(was[i][0] for i in hit if i < len(was)) + ".")
        else:
            self.look(subject, text + " Those that mtag reads are the same.")

    @staticmethod
    def declared(parameters):
        return ", ".join(f"{type_}{'' if type_.endswith('*') else ' '}{name}" for name, type_ in parameters)

    def inlined(self, subject, function):
        """Do those call it that called it, by the list and by the old kernel's code?"""
        image, now = self.new.image, self.callers(self.new, function)
        listed = self.lists.called.get(function, [])
        exist = [each for each in listed if each in image.sizes or each in image.parts]
        silent = [each for each in exist if each not in now]
        if silent:
            self.must(subject, f"{some(silent)} no longer calls it, or the compiler has inlined it there; it is called "
                      f"by {some(now) or 'nobody'}.")
        elif listed and not set(listed) & now:
            self.must(subject, f"none of its callers is left of {some(listed)}; it is called by {some(now) or 'nobody'}.")
        elif set(listed) - set(exist):
            self.look(subject, f"its caller {some(set(listed) - set(exist))} is gone; it is called by {some(now)}.")
        for caller in sorted(self.callers(self.old, function) - now - set(silent)):
            if caller not in image.sizes and caller not in image.parts:
                continue
            source = self.new.source
            if source and source.has(caller) and source.mentions(caller, function):
                self.must(subject, f"{caller} calls it in the source, but not in the code: it is inlined there.")
            elif self.lists.of_pages(function):
                self.look(subject, f"{caller} no longer calls it.")

    def pages(self, kernel):
        """The functions that page events come from: the hooked ones, and others of that family."""
        hooked = {each for each in self.lists.hooks if self.lists.of_pages(each)}
        family = {each for each in kernel.image.sizes if FAMILY.fullmatch(each)}
        return {each for each in hooked | family if each in kernel.image.sizes}

    def page_callers(self):
        """Who maps and unmaps pages, and is not known to."""
        known = self.lists.all_callers()
        before = {each for function in self.old_pages for each in self.callers(self.old, function)}
        for function in sorted(self.new_pages - self.old_pages):
            self.must(f"new function {function}",
                      f"it is one of rmap's: ({self.declared(self.new.types.parameters(function) or [])}), called by "
                      f"{some(self.callers(self.new, function)) or 'nobody directly'}. mtag does not hook it.")
        calls = {}
        for function in self.new_pages:
            for caller in self.callers(self.new, function):
                calls.setdefault(caller, set()).add(function)
        for caller in sorted(set(calls) - set(known) - before):
            above = self.callers(self.new, caller)
            self.must(f"new caller {caller}",
                      f"calls {some(calls[caller])}; its events would be foreign."
                      f"{' It is called by ' + some(above) + '.' if above else ''}")
        for caller in sorted(set(known) & set(calls)):
            more = {each for each in calls[caller] & self.old_pages if caller not in self.callers(self.old, each)}
            if more and caller in before:
                self.look(f"caller {caller}", f"newly calls {some(more)}.")

    @staticmethod
    def strange(image, lists, forms):
        """Known callers, by names by which the module does not look for them."""
        callers = {caller for each in lists.hooks if lists.of_pages(each) for caller in image.callers.get(each, ())}
        return {each for each in callers if image.whole(each) in lists.all_callers() and
                each[len(image.whole(each)):] not in forms}

    def caller_forms(self):
        for each in sorted(self.strange(self.new.image, self.lists, mtag.forms(self.kmod))):
            self.must(f"caller {self.new.image.whole(each)}",
                      f"its name is {each}, which MTAG_SUFFIXES does not allow for; its events would be foreign.")

    def caller(self, function):
        subject, image = f"caller {function}", self.new.image
        if function not in image.sizes and function not in image.parts:
            self.must(subject, self.gone(function))
            return
        pages = [each for each in self.old_pages if function in self.callers(self.old, each)]
        if pages and not any(function in self.callers(self.new, each) for each in self.new_pages):
            self.look(subject, "it no longer calls a function of rmap.")
        else:
            self.found.same("callers")

    def other_callers(self):
        """Functions that newly call hooked ones other than those of pages."""
        for function in sorted(self.lists.hooks):
            if self.lists.of_pages(function):
                continue
            more = self.callers(self.new, function) - self.callers(self.old, function)
            if more and function in self.old.image.sizes:
                self.look(f"hook {function}", f"is newly called by {some(more)}.")

    def source_callers(self):
        """Parts of callers, which only the source tells from those they are inlined into."""
        if not self.old.source or not self.new.source:
            return
        known = set(self.lists.all_callers())
        pages = self.old_pages | self.new_pages
        # Those of one page are macros or inlines.
        pages |= {each[:-1] for each in pages if each.endswith("_ptes")}
        old, new = (kernel.source.users("|".join(sorted(pages)), ("mm", "kernel", "fs")) - pages
                    for kernel in (self.old, self.new))
        for part in sorted(new - old - known - set(self.new.image.sizes)):
            chain = self.chain(part)
            self.look(f"part {part}", f"calls a function of rmap in the source ({self.new.source.functions[part][0]})"
                      f"{', within ' + ', within '.join(chain) if chain else ''}.")
        for part in sorted(set(self.lists.parts) & (old - new)):
            self.look(f"part {part}", "no longer calls a function of rmap in the source.")

    def chain(self, part):
        """The functions that a static function is within, up to one that the image has."""
        chain = []
        while part not in self.new.image.sizes and len(chain) < 6:
            above = sorted(self.new.source.users(part, ("mm", "kernel", "fs")) - {part} - set(chain))
            if not above:
                break
            part = above[0]
            chain.append("/".join(above[:3]))
        return chain

    def resolved(self):
        for function in mtag.resolved(self.kmod):
            if function not in self.new.image.sizes:
                self.must(f"function {function}", "mtag calls or probes it. " + self.gone(function))
            elif self.old.types.parameters(function) != self.new.types.parameters(function):
                self.must(f"function {function}", "mtag calls or probes it. Its arguments were "
                          f"({self.declared(self.old.types.parameters(function) or [])}), and are "
                          f"({self.declared(self.new.types.parameters(function) or [])}).")
            else:
                self.found.same("called functions")

    def structures(self):
        """Members that mtag may read, by their names."""
        used = mtag.members(self.kmod)
        for structure in mtag.STRUCTS:
            was, now = (kernel.types.members(structure) for kernel in (self.old, self.new))
            if not was:
                continue
            for member in sorted(used & set(was)):
                subject = f"struct {structure}"
                if not now:
                    self.look(subject, f"is gone, and with it {some(used & set(was))}.")
                    break
                if member not in now:
                    self.look(subject, f"has no member {member} any more; mtag uses one of that name.")
                elif was[member][1] != now[member][1]:
                    self.look(subject, f"{member} was {was[member][1]}, and is {now[member][1]}.")
                else:
                    self.found.same("members")

    def run(self):
        for function in self.lists.hooks:
            self.hook(function)
        for function in self.lists.callers:
            self.caller(function)
        self.page_callers()
        self.caller_forms()
        self.other_callers()
        self.source_callers()
        self.resolved()
        self.structures()
        return self.found
