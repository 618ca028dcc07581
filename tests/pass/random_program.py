# random_program.py SEED
# Prints a C program that stores to two objects of the view in every way that the pass merges:
# branches, loops up and down, calls that fence, pointers that change, copies. The program prints a
# sum of the values that it has stored.
import random
import sys

dice = random.Random(int(sys.argv[1]))
FUNCTIONS = 5

HEAD = """#include <emmintrin.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "view.h"
struct node { long a, b, c; int d[8]; struct node *next; long e[20]; char f[100]; _Atomic long g; };
static long steps;
#define MORE (++steps < 20000)
"""


def field(pointer):
    return dice.choice([
        f"{pointer}->a", f"{pointer}->b", f"{pointer}->c", f"{pointer}->d[{dice.randrange(8)}]",
        f"{pointer}->d[(unsigned)n % 8]", f"{pointer}->e[{dice.randrange(20)}]", f"{pointer}->e[(unsigned long)m % 20]",
        f"{pointer}->f[{dice.randrange(100)}]", f"{pointer}->f[(unsigned long)(n + m) % 100]",
    ])


def value():
    return dice.choice(["n", "m", "n + m", "n * 3", "m ^ n", "p->a + 1", "q->e[3] + n", str(dice.randrange(100))])


def loop(depth, index, name):
    i = f"i{depth}"
    kind = dice.randrange(6)
    if kind == 0:
        return f"for (long {i} = 0; {i} < {dice.randrange(1, 20)}; ++{i}) {{ p->e[{i}] = {value()} + {i}; {maybe(depth, index, name)} }}"
    if kind == 1:
        return f"for (int {i} = (int)((unsigned long)n % 19); {i} > 0; --{i}) {{ q->e[{i}] = q->e[{i} - 1] + 1; {maybe(depth, index, name)} }}"
    if kind == 2:
        return f"for (unsigned {i} = 0; {i} < 100; {i} += {dice.choice([1, 3, 7])}) {{ if (q->f[{i}] == 3) break; p->f[{i}] = (char)({value()}); {maybe(depth, index, name)} }}"
    if kind == 3:
        return f"for (char *{i} = p->f, *end{depth} = p->f + (unsigned long)m % 100; {i} < end{depth}; ++{i}) {{ *{i} = (char)({value()}); {maybe(depth, index, name)} }}"
    if kind == 4:
        return f"for (struct node *{i} = p; {i} && MORE; {i} = {i}->next) {{ {i}->b = {value()}; {maybe(depth, index, name)} }}"
    return f"for (long {i} = 0; {i} < (long)((unsigned long)n % 9); ++{i}) {{ {block(depth + 1, index, name)} }}"


def maybe(depth, index, name):
    return statement(depth + 1, index, name) if dice.randrange(3) == 0 else ""


def statement(depth, index, name):
    kind = dice.randrange(15 if depth < 3 else 9)
    if kind < 4:
        return f"{field(dice.choice('pq'))} = {value()};"
    if kind == 4:
        return dice.choice(["p = q;", "p = p->next ? p->next : p;", "q = n & 1 ? p : q;", "{ struct node *t = p; p = q; q = t; }"])
    if kind == 5:
        return dice.choice(["n = n * 5 + 1;", "m = m + n;", "m = p->c + m;"])
    if kind == 6:
        return dice.choice([
            "memset(p->f, (int)n, 40);", "memcpy(q->e, p->e + 4, 8 * (1 + (unsigned long)m % 12));",
            "memmove(p->f + 1, p->f, (unsigned long)n % 99);", "memset(q->d, 0, sizeof q->d);"])
    if kind == 7:
        return dice.choice(["_mm_sfence();", "_mm_clflush(p);", "_mm_clflush(&q->g);", "atomic_thread_fence(memory_order_seq_cst);",
                            "atomic_fetch_add(&p->g, 1);", "atomic_store(&q->g, n);",
                            "atomic_store_explicit(&q->g, n, memory_order_release);",
                            "_mm_stream_si32(&p->d[2], (int)m + 1);", '__asm__ volatile("" ::: "memory");'])
    if kind == 8 or kind == 14:
        if index + 1 < FUNCTIONS:
            return f"if (MORE) m += f{dice.randrange(index + 1, FUNCTIONS)}({dice.choice(['p, q', 'q, p', 'p->next ? p->next : q, q'])}, n, m);"
        return "persist(p);"
    if kind < 12:
        return loop(depth, index, name)
    return f"if ({value()} & {dice.choice([1, 2, 3])}) {{ {block(depth + 1, index, name)} }} else {{ {block(depth + 1, index, name)} }}"


def block(depth, index, name):
    return "\n    ".join(statement(depth, index, name) for _ in range(dice.randrange(1, 5)))


print(HEAD)
print("__attribute__((noinline)) static void persist(void *p) { _mm_clflush(p); _mm_sfence(); }")
for index in reversed(range(FUNCTIONS)):
    inline = dice.choice(["__attribute__((noinline)) ", ""])
    print(f"{inline}static long f{index}(struct node *p, struct node *q, long n, long m) {{")
    for _ in range(dice.randrange(3, 9)):
        print("    " + statement(0, index, "f"))
    print("    return m + p->a;\n}")
print("""int main(void) {
  char *v = view_map();
  struct node *nodes = (struct node *)(v + 8);
  for (int i = 0; i < 6; ++i) nodes[i].next = i < 5 ? &nodes[i + 1] : 0;
  long sum = 0;
  for (int i = 0; i < 30; ++i) {
    steps = 0;
    sum = sum * 31 + f0(&nodes[i % 6], &nodes[(i * 5 + 1) % 6], i, sum & 1023);
  }
  for (unsigned long i = 0; i < sizeof(struct node) * 6; ++i)
    if (i % sizeof(struct node) < __builtin_offsetof(struct node, next) || i % sizeof(struct node) >= __builtin_offsetof(struct node, e))
      sum = sum * 31 + ((char *)nodes)[i];
  printf("%ld\\n", sum);
  return 0;
}""")
