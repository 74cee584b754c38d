"""Functions of about 20 lines, and what is asked of them: the work of a rewrite by a small model."""

from typing import NamedTuple


class RewriteTask(NamedTuple):
    """A function, and the request."""

    name: str
    request: str
    source: str


WARM_UP = RewriteTask(
    "joined",
    "Use an f-string",
    """\
def joined(first, last):
    return first + " " + last
""",
)
"""A rewrite that loads the model, and has the system prompt read."""
TASKS = (
    RewriteTask(
        "report",
        "Use f-strings",
        '''\
def report(orders, currency):
    """Return one line for each order, and the total."""
    result = ""
    total = 0
    for order in orders:
        name = order["name"]
        price = order["price"]
        quantity = order["quantity"]
        if quantity == 0:
            continue
        amount = price * quantity
        discount = order.get("discount", 0)
        if discount > 0:
            amount = amount - amount * discount / 100
        total = total + amount
        result = result + name + ": " + str(amount) + " " + currency + "\\n"
    if total == 0:
        return "nothing was ordered\\n"
    result = result + "total: " + str(total) + " " + currency + "\\n"
    return result
''',
    ),
    RewriteTask(
        "parse_config",
        "Skip lines that begin with a semicolon, too",
        '''\
def parse_config(text):
    """Return the sections of a configuration, each a dictionary."""
    sections = {}
    current = {}
    sections[""] = current
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line:
            continue
        if line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            name = line[1:-1].strip()
            current = sections.setdefault(name, {})
            continue
        if "=" not in line:
            raise ValueError(f"line {number} has no equals sign: {line}")
        key, value = line.split("=", 1)
        key = key.strip().lower()
        current[key] = value.strip()
    return sections
''',
    ),
    RewriteTask(
        "merge_intervals",
        "Add type hints",
        '''\
def merge_intervals(intervals, gap=0):
    """Return the intervals with those joined that overlap or are close."""
    if not intervals:
        return []
    ordered = sorted(intervals)
    merged = [ordered[0]]
    for start, end in ordered[1:]:
        last_start, last_end = merged[-1]
        if start <= last_end + gap:
            if end > last_end:
                merged[-1] = (last_start, end)
        else:
            merged.append((start, end))
    lengths = []
    for start, end in merged:
        if end < start:
            raise ValueError("an interval ends before it starts")
        lengths.append(end - start)
    if sum(lengths) == 0:
        return []
    return merged
''',
    ),
    RewriteTask(
        "retry",
        "Double the delay after each failure",
        '''\
def retry(action, attempts, delay, log):
    """Run an action until it succeeds, at most so many times."""
    last_error = None
    for attempt in range(1, attempts + 1):
        try:
            result = action()
        except ConnectionError as error:
            last_error = error
            log(f"attempt {attempt} of {attempts} failed: {error}")
            if attempt == attempts:
                break
            time.sleep(delay)
        except ValueError as error:
            log(f"giving up: {error}")
            raise
        else:
            if attempt > 1:
                log(f"attempt {attempt} succeeded")
            return result
    log("all attempts failed")
    raise RuntimeError("all attempts failed") from last_error
''',
    ),
    RewriteTask(
        "wrap_text",
        "Words that are longer than the width must be cut into pieces",
        '''\
def wrap_text(text, width):
    """Return the lines of a text, each at most as long as the width."""
    if width < 1:
        raise ValueError("width must be positive")
    lines = []
    for paragraph in text.split("\\n"):
        words = paragraph.split()
        if not words:
            lines.append("")
            continue
        line = words[0]
        for word in words[1:]:
            if len(line) + 1 + len(word) <= width:
                line += " " + word
            else:
                lines.append(line)
                line = word
        lines.append(line)
    while lines and not lines[-1]:
        lines.pop()
    return lines
''',
    ),
    RewriteTask(
        "inventory",
        "Raise KeyError for an unknown action instead of ignoring it",
        '''\
def inventory(events):
    """Return how many of each item there are after all events."""
    stock = {}
    for event in events:
        action = event["action"]
        item = event["item"]
        count = event.get("count", 1)
        if count < 0:
            raise ValueError("a count is negative")
        if action == "add":
            stock[item] = stock.get(item, 0) + count
        elif action == "remove":
            left = stock.get(item, 0) - count
            if left < 0:
                raise ValueError(f"there are not enough of {item}")
            stock[item] = left
        elif action == "clear":
            stock.pop(item, None)
        else:
            continue
    return {item: count for item, count in stock.items() if count}
''',
    ),
    RewriteTask(
        "histogram",
        "Use a Counter",
        '''\
def histogram(words, most, width):
    """Return the most frequent words as bars."""
    counts = {}
    for word in words:
        word = word.lower().strip(".,;:!?")
        if not word:
            continue
        if word not in counts:
            counts[word] = 0
        counts[word] += 1
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    ordered = ordered[:most]
    if not ordered:
        return []
    highest = ordered[0][1]
    rows = []
    for word, count in ordered:
        length = round(width * count / highest)
        bar = "#" * max(1, length)
        rows.append(f"{word:<12} {bar} {count}")
    return rows
''',
    ),
    RewriteTask(
        "find_path",
        "Return None instead of an empty list if there is no path",
        '''\
def find_path(graph, start, goal):
    """Return the shortest path between two nodes as a list."""
    if start == goal:
        return [start]
    queue = deque([start])
    came_from = {start: None}
    while queue:
        node = queue.popleft()
        for neighbour in graph.get(node, ()):
            if neighbour in came_from:
                continue
            came_from[neighbour] = node
            if neighbour == goal:
                path = [goal]
                while came_from[path[-1]] is not None:
                    path.append(came_from[path[-1]])
                path.reverse()
                return path
            queue.append(neighbour)
    return []
''',
    ),
    RewriteTask(
        "read_table",
        "Strip the white space around each cell",
        '''\
def read_table(path, separator=","):
    """Return the rows of a file as dictionaries."""
    rows = []
    with open(path, encoding="utf-8") as file:
        header = file.readline().rstrip("\\n")
        if not header:
            raise ValueError("the file is empty")
        names = header.split(separator)
        if len(set(names)) != len(names):
            raise ValueError("a column occurs twice")
        for number, line in enumerate(file, 2):
            line = line.rstrip("\\n")
            if not line:
                continue
            cells = line.split(separator)
            if len(cells) != len(names):
                raise ValueError(f"line {number} has {len(cells)} cells")
            rows.append(dict(zip(names, cells)))
    if not rows:
        raise ValueError("the file has no rows")
    return rows
''',
    ),
    RewriteTask(
        "is_valid_password",
        "Return early instead of collecting the result in a variable",
        '''\
def is_valid_password(password, name, former):
    """Return whether a password may be used."""
    valid = True
    if len(password) < 12:
        valid = False
    if len(password) > 128:
        valid = False
    if not any(character.isdigit() for character in password):
        valid = False
    if not any(character.isupper() for character in password):
        valid = False
    if not any(character.islower() for character in password):
        valid = False
    if name and name.lower() in password.lower():
        valid = False
    if password in former:
        valid = False
    if password != password.strip():
        valid = False
    return valid
''',
    ),
)
"""The functions that are measured."""
