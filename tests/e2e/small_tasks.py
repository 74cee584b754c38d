"""Small tasks for the model `medium`: a function, what is wrong with it, and a check that runs.

They were written before the model was asked, and used to choose the form of its prompt.
"""

from typing import NamedTuple


class SmallTask(NamedTuple):
    """A function of `m.py`, a request, and Python that fails before and passes after it."""

    name: str
    source: str
    request: str
    check: str


BUGS = (
    SmallTask(
        "median",
        """\
def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle] + ordered[middle + 1]) / 2
""",
        "median([1, 2, 3, 4]) returns 3.5, but it should return 2.5. Fix it.",
        "assert median([1,2,3,4])==2.5 and median([3,1,2])==2 and median([1,2])==1.5",
    ),
    SmallTask(
        "tags",
        """\
def append_tag(tag, tags=[]):
    tags.append(tag)
    return tags
""",
        "All calls of append_tag() without tags share one list. Fix it.",
        'assert append_tag("a")==["a"] and append_tag("b")==["b"] and append_tag("c",["x"])==["x","c"]',
    ),
    SmallTask(
        "words",
        """\
def count_words(text):
    counts = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return counts
""",
        "count_words() should ignore case.",
        'assert count_words("A a b B b")=={"a":2,"b":3}',
    ),
    SmallTask(
        "find",
        """\
def find(items, wanted):
    low, high = 0, len(items) - 1
    while low < high:
        middle = (low + high) // 2
        if items[middle] == wanted:
            return middle
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle - 1
    return -1
""",
        "find([5], 5) returns -1 instead of 0: the last element that is left is never looked at.",
        "assert find([5],5)==0 and find([1,2,3],3)==2 and find([1,2,3],1)==0 and find([1,3],2)==-1",
    ),
    SmallTask(
        "parse",
        """\
def parse_line(line):
    key, value = line.split("=")
    return key.strip(), value.strip()
""",
        'parse_line("a = b=c") raises ValueError. A value may contain "=".',
        'assert parse_line("a = b=c")==("a","b=c") and parse_line("x=1")==("x","1")',
    ),
    SmallTask(
        "chunks",
        """\
def chunks(items, size):
    result = []
    for start in range(0, len(items) - size, size):
        result.append(items[start:start + size])
    return result
""",
        "chunks() loses the last chunk.",
        "assert chunks([1,2,3,4,5],2)==[[1,2],[3,4],[5]] and chunks([1,2],2)==[[1,2]]",
    ),
    SmallTask(
        "fib",
        """\
def fib(n):
    a, b = 0, 1
    for _ in range(n + 1):
        a, b = b, a + b
    return a
""",
        "fib(0) returns 1 and fib(1) returns 1; fib(0) should be 0.",
        "assert [fib(n) for n in range(7)]==[0,1,1,2,3,5,8]",
    ),
    SmallTask(
        "ssn",
        """\
def slugify(title):
    words = title.lower().split(" ")
    return "-".join(words)
""",
        'slugify("Hello  World ") returns "hello--world-" but should return "hello-world".',
        'assert slugify("Hello  World ")=="hello-world" and slugify("A b")=="a-b"',
    ),
    SmallTask(
        "avg",
        """\
def average(values):
    total = 0
    for value in values:
        total += value
    return total / len(values)
""",
        "average([]) raises ZeroDivisionError; it should return 0.",
        "assert average([])==0 and average([1,3])==2",
    ),
    SmallTask(
        "leap",
        """\
def is_leap(year):
    return year % 4 == 0 and year % 100 != 0
""",
        "is_leap(2000) returns False, but 2000 was a leap year.",
        "assert is_leap(2000) and not is_leap(1900) and is_leap(2004) and not is_leap(2001)",
    ),
    SmallTask(
        "dedupe",
        """\
def dedupe(items):
    return list(set(items))
""",
        "dedupe() loses the order of the items.",
        "assert dedupe([3,1,3,2,1])==[3,1,2]",
    ),
    SmallTask(
        "clamp",
        """\
def clamp(value, low, high):
    return max(high, min(low, value))
""",
        "clamp(5, 0, 10) returns 10 but should return 5.",
        "assert clamp(5,0,10)==5 and clamp(-1,0,10)==0 and clamp(11,0,10)==10",
    ),
    SmallTask(
        "merge",
        """\
def merge(first, second):
    first.update(second)
    return first
""",
        "merge() changes its first argument. It must leave both arguments as they are.",
        """\
a={"x":1}
assert merge(a,{"y":2})=={"x":1,"y":2} and a=={"x":1}
""",
    ),
    SmallTask(
        "rev",
        """\
def is_palindrome(text):
    return text == text[::-1]
""",
        'is_palindrome("Never odd or even") should be True: ignore case and spaces.',
        'assert is_palindrome("Never odd or even") and not is_palindrome("ab")',
    ),
)
"""Faults told by their symptom."""
REWRITES = (
    SmallTask(
        "hints",
        """\
def scale(values, factor):
    return [value * factor for value in values]
""",
        "Add type hints to scale: values is a list of floats, factor is a float.",
        """\
import typing
h=typing.get_type_hints(scale)
assert set(h)>={"values","factor"} and scale([1.0],2.0)==[2.0]
assert 1
""",
    ),
    SmallTask(
        "guard",
        """\
def head(items, n):
    return items[:n]
""",
        "Raise ValueError in head() if n is negative.",
        """\
assert head([1,2],1)==[1]
try: head([1],-1); raise SystemExit(1)
except ValueError: pass
""",
    ),
    SmallTask(
        "compr",
        """\
def squares(numbers):
    result = []
    for n in numbers:
        if n > 0:
            result.append(n * n)
    return result
""",
        "Use a list comprehension in squares().",
        """\
assert squares([1,-2,3])==[1,9]
import inspect
s=inspect.getsource(squares); assert "append" not in s and "[" in s
""",
    ),
    SmallTask(
        "rename",
        """\
def area(w, h):
    if w < 0 or h < 0:
        raise ValueError("negative")
    return w * h
""",
        "Rename the parameters of area: w to width and h to height.",
        """\
assert area(width=2,height=3)==6
try: area(-1,1); raise SystemExit(1)
except ValueError: pass
""",
    ),
    SmallTask(
        "param",
        """\
def greet(name):
    return "Hello, " + name + "!"
""",
        'Add a parameter greeting to greet() with the default "Hello".',
        'assert greet("A")=="Hello, A!" and greet("A", greeting="Hi")=="Hi, A!"',
    ),
    SmallTask(
        "fstring",
        """\
def label(name, count):
    return "%s (%d)" % (name, count)
""",
        "Use an f-string in label().",
        """\
assert label("a",2)=="a (2)"
import inspect
s=inspect.getsource(label); assert "%" not in s and "f\\"" in s or "f'" in s
""",
    ),
    SmallTask(
        "with",
        """\
def read(path):
    handle = open(path)
    text = handle.read()
    handle.close()
    return text
""",
        "Use a with statement in read().",
        """\
import inspect,tempfile,os
s=inspect.getsource(read); assert "with open" in s and "close()" not in s
f=tempfile.mktemp(); open(f,"w").write("x"); assert read(f)=="x"
""",
    ),
    SmallTask(
        "enum",
        """\
def numbered(lines):
    result = []
    i = 0
    for line in lines:
        result.append(f"{i}: {line}")
        i += 1
    return result
""",
        "Use enumerate in numbered().",
        """\
assert numbered(["a","b"])==["0: a","1: b"]
import inspect
s=inspect.getsource(numbered); assert "enumerate" in s and "i += 1" not in s
""",
    ),
    SmallTask(
        "dataclass",
        """\
class Point:
    def __init__(self, x, y=0):
        self.x = x
        self.y = y
""",
        "Make Point a dataclass.",
        """\
import dataclasses
assert dataclasses.is_dataclass(Point) and Point(1).y==0 and Point(1,2).x==1
""",
    ),
    SmallTask(
        "extract",
        """\
def report(orders):
    total = 0
    for order in orders:
        total += order["price"] * order["count"]
    return f"Total: {total}"
""",
        "Extract the computation of the total in report() into a function total_of(orders).",
        'assert report([{"price":2,"count":3}])=="Total: 6" and total_of([{"price":2,"count":3}])==6',
    ),
)
"""Changes told by an instruction."""
