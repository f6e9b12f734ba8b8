# SPDX-License-Identifier: BSD-2-Clause
"""Waits at descriptors of each kind, and prints what the trace must call them: a title's regular expression a line."""
import os
import re
import select
import socket
import sys
import threading
import time

directory = sys.argv[1]
FUTEX = "202"


def later(what):
    """Does it 50 ms after the main thread has begun to wait, for something else than for a thread of Python."""

    def waits():
        with open(f"/proc/self/task/{os.getpid()}/syscall") as call:
            return call.read().split()[0] not in ("running", FUTEX)

    def act():
        while not waits():
            time.sleep(0.001)
        time.sleep(0.05)
        what()

    threading.Thread(target=act).start()


def says(call, what):
    print(rf"\[off-cpu\] {call}, {what}, woken by .*")


server = socket.create_server(("127.0.0.1", 0))
client = socket.create_connection(server.getsockname())
accepted, _ = server.accept()
later(lambda: accepted.send(b"x"))
client.recv(1)
says("recvfrom", rf"socket 127\.0\.0\.1:{client.getsockname()[1]} <-> :{server.getsockname()[1]}")

readable, writable = os.pipe()
later(lambda: os.write(writable, b"x"))
os.read(readable, 1)
says("read", f"pipe {os.fstat(readable).st_ino}")
polled = select.poll()
polled.register(readable, select.POLLIN)
# Some kernels hide a process, and with it a timer's wake-up that comes while it runs: one of three is seen.
for _ in range(3):
    polled.poll(60)
says("poll", f"pipe {os.fstat(readable).st_ino}")

poller = select.epoll()
poller.register(readable)
for _ in range(3):
    poller.poll(0.04)
says("epoll_(p)?wait", "epoll( of 1)?")  # how many is not known any more once the program is gone

number = os.eventfd(0)
later(lambda: os.eventfd_write(number, 1))
os.eventfd_read(number)
says("read", "eventfd")

name = directory + "/named.socket"
listening = socket.socket(socket.AF_UNIX)
listening.bind(name)
listening.listen()
later(lambda: socket.socket(socket.AF_UNIX).connect(name))
listening.accept()
says("accept4", "Unix socket " + name.replace(".", r"\."))

os.mkfifo(directory + "/fifo")
later(lambda: open(directory + "/fifo", "w").write("x"))
fifo = os.open(directory + "/fifo", os.O_RDWR)
os.read(fifo, 1)
says("read", rf"pipe (\.\.\.|{os.path.dirname(directory)})/{os.path.basename(directory)}/fifo")

# The same descriptor, soon afterwards: under a new name, and as another file.
writer = os.open(directory + "/fifo", os.O_WRONLY)
os.rename(directory + "/fifo", directory + "/renamed")
later(lambda: os.write(writer, b"x"))
os.read(fifo, 1)
says("read", rf"pipe (\.\.\.|{os.path.dirname(directory)})/{os.path.basename(directory)}/renamed")
other, writable = os.pipe()
os.dup2(other, fifo)
later(lambda: os.write(writable, b"x"))
os.read(fifo, 1)
says("read", f"pipe {os.fstat(other).st_ino}")

# A socket that is connected anew, to another address with the same port.
try:
    with open("/proc/net/if_inet6") as table:
        lines = [line.split() for line in table]
except FileNotFoundError:
    lines = []
named = [socket.inet_ntop(socket.AF_INET6, bytes.fromhex(line[0])) for line in lines if line[3] in ("00", "10")]
client, port = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) if named else None, 0
for address in sorted(named, key=lambda name: name != "::1"):
    server = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    server.bind((address, port))
    port = server.getsockname()[1]
    client.connect((address, port))
    later(lambda: server.sendto(b"x", client.getsockname()))
    client.recv(1)
    own = client.getsockname()
    peer = "" if own[0] == address else re.escape(f"[{address}]")
    says("recvfrom", rf"UDP socket {re.escape(f'[{own[0]}]:{own[1]}')} <-> {peer}:{port}")
