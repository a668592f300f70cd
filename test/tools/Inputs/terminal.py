# Types into a program on a terminal, as a person does, and prints what it answered.
# usage: terminal.py COMMAND... < SCRIPT
# Each line of SCRIPT is "send TEXT" (\r, \t, \x03 as in Python) or "wait TEXT": reads until TEXT.
# SPDX-License-Identifier: Apache-2.0
import codecs
import fcntl
import os
import pty
import re
import select
import struct
import sys
import termios

TIME_LIMIT = 60  # seconds for one answer


class Terminal:
    def __init__(self, command):
        self.child, self.end = pty.fork()
        if self.child == 0:
            os.environ["TERM"] = "vt100"
            # Wide, so that no line is broken.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 200, 0, 0))
            os.execvp(command[0], command)
        self.seen = b""

    def read(self):
        """Reads what is there; false at the end of the program."""
        ready, _, _ = select.select([self.end], [], [], TIME_LIMIT)
        if not ready:
            sys.exit(f"no answer: {self.seen!r}")
        try:
            got = os.read(self.end, 4096)
        except OSError:
            return False
        self.seen += got
        return bool(got)

    def wait(self, text):
        while self.seen.find(text) < 0:
            if not self.read():
                sys.exit(f"ended before {text!r}: {self.seen!r}")
        start = self.seen.find(text) + len(text)
        done, self.seen = self.seen[:start], self.seen[start:]
        return done


def plain(text):
    """The text without the commands that move the cursor, each line as it was drawn at last."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\x08|\x07", "", text)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def main():
    terminal = Terminal(sys.argv[1:])
    output = b""
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").partition(" ")
        data = codecs.decode(rest, "unicode_escape").encode("utf-8")
        if word == "send":
            os.write(terminal.end, data)
        elif word == "wait":
            output += terminal.wait(data)
    while terminal.read():
        pass
    print(plain((output + terminal.seen).decode("utf-8", "replace")))
    _, status = os.waitpid(terminal.child, 0)
    print(f"exit code: {os.waitstatus_to_exitcode(status)}")


main()
