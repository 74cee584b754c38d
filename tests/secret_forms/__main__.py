"""`python -m tests.secret_forms`: how many examples are marked, of the tuned half and of the held-out one.

What is missed is listed for the tuned half only: rules are made from that.
"""

import sys
from collections import Counter

from tests.secret_forms.forms import SEEDS, halves, misses

tuned, held_out = halves()
for name, chosen in (("tuned", tuned), ("held out", held_out)):
    missed = Counter(form.name for form, _ in misses(chosen))
    n_examples = len(chosen) * len(SEEDS)
    share = 100 - 100 * missed.total() / n_examples
    _ = sys.stdout.write(
        f"{name}: {len(chosen)} forms, {n_examples} examples, {share:.1f} % marked\n"
    )
    if chosen is tuned:
        _ = sys.stdout.write("".join(f"  {one}: {n}\n" for one, n in missed.most_common()))
