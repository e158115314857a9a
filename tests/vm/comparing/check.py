# SPDX-License-Identifier: GPL-2.0
"""Started by tests/vm/compare.sh: the comparison itself, on kernels in the cache, and on one with planted changes.

check.py KMOD NAME DIRECTORY…, by version; those with a flavour, such as 6.12-rt, are ones on which the module loads
"""
import copy
import os
import sys
import tempfile

import assumed
import compare
import lists as mtag
import rules
import source

COUNT = [0, 0]


def ok(passed, name, *why):
    COUNT[0] += 1
    COUNT[1] += not passed
    print(f"{'ok' if passed else 'not ok'} {COUNT[0]} - {name}", *(f"#   {line}" for line in why if not passed),
          sep="\n", flush=True)


def words(found):
    """What was said, as words."""
    return set(" ".join(subject + " " + text for subject, text in found.must + found.look)
               .translate(str.maketrans(",;:().", "      ")).split())


def differences(old, new):
    """The functions that the second lists have and the first have not, and the hooks that only the first have."""
    names = [{**each.hooks, **each.callers} for each in (old, new)]
    called = [{caller for callers in each.called.values() for caller in callers} for each in (old, new)]
    return set(names[1]) - set(names[0]) | called[1] - called[0] | set(old.hooks) - set(new.hooks)


def pair(old, new, kmod):
    found, lists, _ = compare.compare(old, new, kmod)
    theirs = mtag.Lists(kmod, new.name, new.release, new.config())
    unnamed = differences(lists, theirs) - words(found)
    ok(not unnamed, f"all by which the lists of {new.name} differ from those of {old.name} is named", *sorted(unnamed))


class Plant:
    """A kernel, and copies of it that differ in one thing."""

    def __init__(self, kernel, kmod):
        self.kernel, self.kmod = kernel, kmod

    def copy(self):
        """What a change replaces is the copy's own, the rest is shared."""
        new = copy.copy(self.kernel)
        new.image, new.types = copy.copy(new.image), copy.copy(new.types)
        for name in ("sizes", "parts", "calls", "callers"):
            setattr(new.image, name, dict(getattr(new.image, name)))
        new.image.traceable = set(new.image.traceable)
        new.name += " (planted)"
        return new

    def found(self, new, name, subject, *planted):
        """One change is to be made, and all that is said is about it. Returns that in words."""
        found, _, _ = compare.compare(self.kernel, new, self.kmod)
        said = [text for each, text in found.must if each == subject]
        other = [f"{each}: {text}" for each, text in found.must + found.look
                 if not any(word in each + text for word in planted)]
        ok(len(said) == 1 and not other, name, *other, *said, f"under {subject}")
        return " ".join(said)

    def renamed(self, old, other):
        new = self.copy()
        image = new.image
        image.sizes[other] = image.sizes.pop(old)
        image.traceable.add(other)
        image.callers[other] = image.callers.pop(old)
        image.calls[other] = image.calls.pop(old, {})
        for caller in image.callers[other]:
            image.calls[caller] = {other if each == old else each: n for each, n in image.calls[caller].items()}
        for callee in image.calls[other]:
            image.callers[callee] = image.callers[callee] - {old} | {other}
        return new

    def without_call(self, caller, callee):
        new = self.copy()
        new.image.calls[caller] = {each: n for each, n in new.image.calls[caller].items() if each != callee}
        new.image.callers[callee] = new.image.callers[callee] - {caller}
        return new

    def with_call(self, caller, callee):
        new = self.copy()
        new.image.calls[caller] = {**new.image.calls.get(caller, {}), callee: 1}
        new.image.callers[callee] = new.image.callers[callee] | {caller}
        return new

    def with_parameters(self, function, change):
        new, ask = self.copy(), self.kernel.types.parameters
        new.types.parameters = lambda each: change(ask(each)) if each == function else ask(each)
        return new

    def without_member(self, structure, member):
        new, ask = self.copy(), self.kernel.types.members
        new.types.members = lambda each: {name: value for name, value in (ask(each) or {}).items()
                                          if (each, name) != (structure, member)} or None
        return new


def plant_code(plant):
    said = plant.found(plant.renamed("lru_gen_del_mm", "lru_forget_mm"), "a renamed function is found",
                       "hook lru_gen_del_mm", "lru_gen_del_mm")
    ok("lru_forget_mm (called by __mmput" in said, "its new name is proposed", said)
    new = plant.copy()
    new.image.traceable.remove("exit_mmap")
    plant.found(new, "a function that ftrace cannot hook is found", "hook exit_mmap", "exit_mmap")
    new = plant.copy()
    new.image.parts["exit_mmap"] = {"exit_mmap.part.0"}
    plant.found(new, "a function that was split is found", "hook exit_mmap", "exit_mmap.part.0")
    plant.found(plant.without_call("begin_new_exec", "__set_task_comm"), "an inlined function is found",
                "hook __set_task_comm", "__set_task_comm")
    remove = "folio_remove_rmap_ptes"
    plant.found(plant.with_call("do_mincore", remove), "a new caller of rmap is found", "new caller do_mincore", remove)
    new = plant.renamed("do_mincore", "folio_add_file_rmap_p4d")
    plant.found(new, "a new function of rmap is found", "new function folio_add_file_rmap_p4d", "p4d")


def plant_types(plant):
    add, arguments = "folio_add_file_rmap_ptes", ["struct folio *folio", "struct page *page", "int nr_pages"]
    said = plant.found(plant.with_parameters(add, lambda was: was[1:] + was[:1]), "arguments that changed places are found",
                       f"hook {add}", add)
    ok(all(each in said for each in arguments), "they are shown", said)
    found, _, _ = compare.compare(plant.kernel, plant.with_parameters(add, lambda was: [("it", was[0][1])] + was[1:]),
                                  plant.kmod)
    ok(not found.must and [each for each, _ in found.look] == [f"hook {add}"],
       "a new name for an argument that mtag does not read is to be looked at")
    for structure, member in (("page", "mapping"), ("pagetable_move_control", "new_addr")):
        new = plant.without_member(structure, member)
        subject = "what a page is" if member == "mapping" else "mremap"
        plant.found(new, f"a member of struct {structure} that is gone is found", f"assumption: {subject}", member)


RMAP = """static void __folio_set_anon(struct folio *folio, struct vm_area_struct *vma,
		unsigned long address)
	__must_hold(&folio->lock)
{
	/* not linear_page_index(), says the comment } */
	folio->index = %s(vma, address);
}
"""
COUNTER = """
#define NOT_MUCH(it) \\
	not_me(it)
int %s(struct mm_struct *mm)
{
	inc_mm_counter(mm, 0);
}
"""


def plant_source(plant):
    def planted(kernel, *files):
        with tempfile.TemporaryDirectory() as directory:
            os.mkdir(f"{directory}/mm")
            for i, text in enumerate(files):
                with open(f"{directory}/mm/{i}.c", "w", encoding="utf-8") as file:
                    file.write(text)
            kernel.source = source.Source(directory)
        return kernel

    was = Plant(planted(plant.copy(), RMAP % "linear_page_index", COUNTER % "old_one"), plant.kmod)
    subject = "assumption: the address of an anonymous page"
    new = planted(was.copy(), RMAP % "other_page_index", COUNTER % "old_one")
    was.found(new, "an assumption whose source says something else is found", subject, "__folio_set_anon")
    new = planted(was.copy(), RMAP.replace("not", "still not") % "linear_page_index", COUNTER % "old_one")
    found, _, _ = compare.compare(was.kernel, new, was.kmod)
    ok(not found.must and not found.look, "another comment is no change", *found.look)
    new = planted(was.copy(), RMAP % "linear_page_index", COUNTER % "old_one" + COUNTER % "new_one")
    found, _, _ = compare.compare(was.kernel, new, was.kmod)
    ok([each for each, _ in found.look] == ["assumption: RSS changes only beside rmap calls"] and
       "new_one() newly uses inc_mm_counter" in found.look[0][1], "a new place that counts pages is found", *found.look)


def tables(kmod, kernels):
    """The tables of the comparison name what there is, and all there is."""
    missing = set()
    for each in kernels:
        reads = mtag.arguments(f"{compare.HERE}/arguments", each.name)
        lists = mtag.Lists(kmod, each.name, each.release, each.config())
        missing |= {f"{hook} of {each.name}" for hook, positions in ((hook, reads.get(hook)) for hook in lists.hooks)
                    if positions is None or len(each.types.parameters(hook) or range(9)) <= max(positions, default=-1)}
    ok(not missing, "the table of arguments has those of all hooked functions, and no more", *sorted(missing))
    forms = mtag.forms(mtag.sources(kmod))
    strange = {f"{name} of {each.name}" for each in kernels for name in rules.Rules.strange(
        each.image, mtag.Lists(kmod, each.name, each.release, each.config()), forms)}
    ok(not strange, "the module looks for all callers by the names that they have", *sorted(strange))
    unlisted = mtag.unlisted(kmod)
    unknown = {f"{name} of {each.name}" for each in kernels for name in unlisted & set(each.image.sizes)}
    ok(not unknown, "all functions are known that the module names", *sorted(unknown))
    for name, entry in assumed.read(f"{compare.HERE}/assumptions").items():
        files = [word.rstrip(",") for word in entry["code"].split() if word.endswith((".c", ".h", ".c,", ".h,", ".S,"))]
        missing = [each for each in files if not os.path.exists(f"{kmod}/{each}")]
        if not files or missing:
            ok(False, f"the assumption '{name}' names files of kmod/", *missing)


def main():
    kmod = sys.argv[1]
    kernels = [compare.Kernel(*each, "") for each in zip(sys.argv[2::2], sys.argv[3::2])]
    flavours = [each for each in kernels if "-" in each.name]
    kernels = [each for each in kernels if each not in flavours]
    for flavour in flavours:
        base = [each for each in kernels if each.name == flavour.name.split("-")[0]]
        found, _, _ = compare.compare(base[0], flavour, kmod)
        ok(not found.must, f"nothing has to be changed for {flavour.name}, as the module loads there",
           *(f"{subject}: {text}" for subject, text in found.must))
    for old, new in zip(kernels, kernels[1:]):
        pair(old, new, kmod)
    tables(kmod, kernels)
    plant = Plant(kernels[-1], kmod)
    found, _, _ = compare.compare(kernels[-1], plant.copy(), kmod)
    ok(not found.must and not found.look, "between a kernel and itself nothing is found", *found.must, *found.look)
    plant_code(plant)
    plant_types(plant)
    plant_source(plant)
    print(f"1..{COUNT[0]}")
    return COUNT[1] > 0


sys.exit(main())
