#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""mok.py VARS CERT...: makes certificates (DER) the machine owner's keys in OVMF's variable store VARS,
which has none, as MokManager does once somebody at the machine has agreed."""
import struct
import sys
import uuid

STORE = 0x48            # the volume's header comes first
HEADER = "<HBBIQ16sIII16s"
NEW, IN_USE = 0x55AA, 0x3F
NON_VOLATILE, BOOT_SERVICE = 1, 2
SHIM = uuid.UUID("605dab50-e046-4300-abb6-3dd810dd8b23")
X509 = uuid.UUID("a5c059a1-94e4-4aa7-87b5-ab155c2bf072")


def signature_list(cert):
    """EFI_SIGNATURE_LIST of one certificate, owned by shim."""
    entry = SHIM.bytes_le + cert
    return X509.bytes_le + struct.pack("<III", 28 + len(entry), 0, len(entry)) + entry


def end(store):
    """Where the first variable goes that is not there yet."""
    at = STORE + 28
    while struct.unpack_from("<H", store, at)[0] == NEW:
        fields = struct.unpack_from(HEADER, store, at)
        at += struct.calcsize(HEADER) + fields[7] + fields[8]
        at += -at % 4
    return at


def main(path, *certs):
    with open(path, "rb") as f:
        store = bytearray(f.read())
    data = b""
    for cert in certs:
        with open(cert, "rb") as f:
            data += signature_list(f.read())
    name = "MokList\0".encode("utf-16-le")
    variable = struct.pack(HEADER, NEW, IN_USE, 0, NON_VOLATILE | BOOT_SERVICE, 0, bytes(16), 0,
                           len(name), len(data), SHIM.bytes_le) + name + data
    at = end(store)
    store[at:at + len(variable)] = variable
    with open(path, "wb") as f:
        f.write(store)


main(*sys.argv[1:])
