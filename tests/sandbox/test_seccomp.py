"""The filter over system calls, as the kernel would run it: for both processors, wherever the tests run."""

import errno
import struct

import pytest

from bot.sandbox.seccomp import ALLOW, AUDIT_ARCH, ERRNO, KILL, NEW_NAMESPACES, NONE, PRETENDED, REFUSED, program

MACHINES = ("x86_64", "aarch64")
every_machine = pytest.mark.parametrize("machine", MACHINES)
READ = {"x86_64": 0, "aarch64": 63}
CLONE = {"x86_64": 56, "aarch64": 220}
PRLIMIT = {"x86_64": 302, "aarch64": 261}
SETPRIORITY = {"x86_64": 141, "aarch64": 140}


def decided(machine: str, number: int, *arguments: int, arch: int | None = None) -> int:
    """Classic BPF, the few instructions that the filter is made of."""
    given = [*arguments, 0, 0, 0, 0, 0, 0][:6]
    data = struct.pack("<II8x6Q", number, AUDIT_ARCH[machine] if arch is None else arch, *given)
    code = list(struct.iter_unpack("<HBBI", program(machine)))
    at, loaded = 0, 0
    while True:
        kind, yes, no, value = code[at]
        at += 1
        match kind:
            case 0x20:
                (loaded,) = struct.unpack_from("<I", data, value)
            case 0x06:
                return int(value)
            case 0x15:
                at += yes if loaded == value else no
            case 0x25:
                at += yes if loaded > value else no
            case 0x45:
                at += yes if loaded & value else no
            case _:
                raise AssertionError(kind)


@every_machine
def test_usual_calls_pass(machine: str) -> None:
    assert decided(machine, READ[machine], 3) == ALLOW
    assert decided(machine, CLONE[machine], 0x11) == ALLOW
    assert decided(machine, PRLIMIT[machine], 0, 7) == ALLOW


@every_machine
def test_every_call_of_the_lists_is_refused_or_said_to_be_done(machine: str) -> None:
    column = MACHINES.index(machine)
    for table, answer in ((REFUSED, ERRNO | errno.EACCES), (PRETENDED, ERRNO)):
        numbers = [each[column] for each in table.values() if each[column] != NONE]
        assert {decided(machine, number) for number in numbers} == {answer}
        assert len(set(numbers)) == len(numbers)


@every_machine
def test_no_namespaces_no_limits_of_others_and_nothing_that_is_newer_than_the_list(machine: str) -> None:
    bits = [1 << bit for bit in range(32) if NEW_NAMESPACES >> bit & 1]

    assert {decided(machine, CLONE[machine], bit | 0x11) for bit in bits} == {ERRNO | errno.EPERM}
    assert decided(machine, 435) == ERRNO | errno.ENOSYS
    assert decided(machine, PRLIMIT[machine], 4711) == ERRNO | errno.EPERM
    assert decided(machine, SETPRIORITY[machine], 0, 4711, 19) == ERRNO | errno.EPERM
    assert decided(machine, SETPRIORITY[machine], 0, 0, 19) == ALLOW
    assert decided(machine, 463) == ERRNO | errno.ENOSYS
    assert decided(machine, 0x40000000 | 41) == ERRNO | errno.ENOSYS


@every_machine
def test_calls_in_another_processor_s_numbers_end_the_script(machine: str) -> None:
    assert decided(machine, READ[machine], arch=0x40000003) == KILL


def test_a_processor_that_is_not_known_has_no_filter() -> None:
    with pytest.raises(KeyError):
        program("riscv64")
