// SPDX-License-Identifier: BSD-3-Clause
// A B+tree in a mapped file, after FAST and FAIR (FAST 2018). Nodes have 512 bytes. Stores of eight
// bytes keep their entries in order by shifting them. Nodes have siblings. There is no log, and no
// copy. It knows nothing of the shield.
//
//     sorted_tree FILE [--flush clwb|clflushopt|clflush] [--forget-flush]
//
// takes commands from standard input, one per line. When the effect of a command is durable, it
// answers with a line:
//     put KEY VALUE   "put", or "full"
//     get KEY         the value, or "none"
//     del KEY         "deleted", or "none"
//     list            a line "KEY VALUE" for each key, in order
//     check           "sound, N keys", or what is wrong (and exit 3)
// Keys and values are numbers of 64 bits; the greatest number is no key.
//
// Why the tree survives a power failure at any moment:
//   - Of two neighbouring entries with one key, the right one counts. A shift first copies an entry
//     to its neighbour, value first, and then takes the original apart. So at most one key exists
//     twice, and both entries, or the right one, are whole.
//   - A shift that comes to another line makes the finished one durable first.
//   - A key at or above the lowest one of the right sibling does not count. So a split is complete
//     as soon as the left half has its sibling.
//   - Opening completes what is missing after that: it ends shifts, cuts left halves short, and
//     links parents to their children. The nodes that no node leads to are free.
#include <inttypes.h>

#include "arguments.h"
#include "flush.h"
#include "mapped_file.h"

enum { node_size = 512, slots = 30, nodes_max = 2048, levels_max = 16 };
static const uint64_t magic = 0x656572742d776172, end_key = UINT64_MAX;

struct slot {
  uint64_t key, value;  // inner nodes: the child with the keys from `key` on
};

struct node {
  uint64_t sibling;  // 0: none; nodes are named by their places in the file, in nodes
  uint64_t low;      // of all keys here and to the right the lowest that can be
  uint64_t first;    // inner nodes: the child with the keys below the first slot's
  uint64_t level;    // 0: a leaf
  struct slot slot[slots];
};

struct head {
  uint64_t magic, root;
};

_Static_assert(sizeof(struct node) == node_size, "a node fits its place");

static struct mapped_file file;
static int forget_flush;
static unsigned char used[nodes_max];
static unsigned free_nodes;

static struct head *head(void) {
  return (struct head *)file.bytes;
}
static struct node *node_at(uint64_t number) {
  return (struct node *)(file.bytes + number * node_size);
}
static uint64_t number_of(const struct node *n) {
  return (uint64_t)((const char *)n - file.bytes) / node_size;
}
static struct node *root(void) {
  return node_at(head()->root);
}

// The programmer's mistake, if it was asked for.
static void persist_or_forget(const void *begin, size_t length) {
  if (!forget_flush) persist(begin, length);
}

static uint64_t high_of(const struct node *n) {
  return n->sibling ? node_at(n->sibling)->low : end_key;
}

static unsigned count_of(const struct node *n) {
  const uint64_t high = high_of(n);
  unsigned count = 0;
  while (count < slots && n->slot[count].key < high) ++count;
  return count;
}

// How many slots have keys up to this one; of equal ones the right one is then the last.
static unsigned position_of(const struct node *n, unsigned count, uint64_t key) {
  unsigned i = 0;
  while (i < count && n->slot[i].key <= key) ++i;
  return i;
}

static int line_begins(const void *at) {
  return ((uintptr_t)at & 63) == 0;
}

// There is room.
static void insert_at(struct node *n, unsigned count, unsigned at, uint64_t key, uint64_t value) {
  struct slot *s = n->slot;
  for (unsigned i = count; i > at; --i) {
    store_word(&s[i].value, s[i - 1].value);
    store_word(&s[i].key, s[i - 1].key);
    if (line_begins(&s[i])) persist(&s[i], sizeof s[i]);
  }
  store_word(&s[at].value, value);
  store_word(&s[at].key, key);
  if (n->level == 0)
    persist_or_forget(&s[at], sizeof s[at]);
  else
    persist(&s[at], sizeof s[at]);
}

static void remove_at(struct node *n, unsigned count, unsigned at) {
  struct slot *s = n->slot;
  for (unsigned i = at; i + 1 < count; ++i) {
    store_word(&s[i].key, s[i + 1].key);
    store_word(&s[i].value, s[i + 1].value);
    if (line_begins(&s[i + 1])) persist(&s[i], sizeof s[i]);
  }
  store_word(&s[count - 1].key, end_key);
  persist(&s[count - 1], sizeof s[count - 1]);
}

static void cut_to(struct node *n, unsigned count) {
  int changed = 0;
  for (unsigned i = slots; i-- > count;) {
    if (n->slot[i].key == end_key) continue;
    store_word(&n->slot[i].key, end_key);
    changed = 1;
  }
  if (changed) persist(&n->slot[count], (slots - count) * sizeof n->slot[0]);
}

// Returns a node that is zero except that its name is taken. One is free.
static struct node *take_node(uint64_t level) {
  unsigned number = 1;
  while (used[number]) ++number;
  used[number] = 1;
  --free_nodes;
  struct node *n = node_at(number);
  memset(n, 0, sizeof *n);
  n->level = level;
  for (unsigned i = 0; i < slots; ++i) n->slot[i].key = end_key;
  return n;
}

static struct node *split(struct node *n) {
  const unsigned half = slots / 2;
  struct node *right = take_node(n->level);
  right->low = n->slot[half].key;
  right->sibling = n->sibling;
  unsigned from = half;
  if (n->level > 0) right->first = n->slot[from++].value;
  memcpy(right->slot, &n->slot[from], (slots - from) * sizeof n->slot[0]);
  persist(right, sizeof *right);
  store_word(&n->sibling, number_of(right));
  persist(&n->sibling, sizeof n->sibling);
  cut_to(n, half);
  return right;
}

// The node of that level that has the key's place.
static struct node *descend(uint64_t level, uint64_t key) {
  struct node *n = root();
  while (n->level > level) {
    const unsigned at = position_of(n, count_of(n), key);
    n = node_at(at ? n->slot[at - 1].value : n->first);
  }
  return n;
}

static void link_child(const struct node *child);

// The key is not there yet.
static void insert(struct node *n, uint64_t key, uint64_t value) {
  if (count_of(n) == slots) {
    struct node *right = split(n);
    link_child(right);
    if (key >= right->low) n = right;
  }
  const unsigned count = count_of(n);
  insert_at(n, count, position_of(n, count, key), key, value);
}

// A node that its left sibling leads to, and its parent does not yet.
static void link_child(const struct node *child) {
  if (child->level < root()->level) {
    insert(descend(child->level + 1, child->low), child->low, number_of(child));
    return;
  }
  struct node *top = take_node(child->level + 1);
  top->first = head()->root;
  top->slot[0] = (struct slot){child->low, number_of(child)};
  persist(top, sizeof *top);
  store_word(&head()->root, number_of(top));
  persist(&head()->root, sizeof head()->root);
}

static struct node *leftmost(uint64_t level) {
  struct node *n = root();
  while (n->level > level) n = node_at(n->first);
  return n;
}

static struct node *sibling_of(const struct node *n) {
  return n->sibling ? node_at(n->sibling) : NULL;
}

static const struct slot *slot_of(const struct node *n, uint64_t key) {
  const unsigned at = position_of(n, count_of(n), key);
  return at && n->slot[at - 1].key == key ? &n->slot[at - 1] : NULL;
}

static void tidy(struct node *n) {
  unsigned count = count_of(n);
  cut_to(n, count);
  for (unsigned i = 0; i + 1 < count; ++i)
    if (n->slot[i].key == n->slot[i + 1].key) remove_at(n, count--, i);
}

static int has_parent(const struct node *n) {
  if (n->level == root()->level) return 0;
  const struct node *parent = descend(n->level + 1, n->low);
  return parent->first == number_of(n) || slot_of(parent, n->low);
}

// (For a root, only a sibling is looked for.)
static void recover(void) {
  for (uint64_t level = root()->level + 1; level-- > 0;)
    for (struct node *n = leftmost(level); n; n = sibling_of(n)) {
      used[number_of(n)] = 1;
      tidy(n);
    }
  used[0] = 1;
  free_nodes = 0;
  for (unsigned i = 0; i < nodes_max; ++i) free_nodes += !used[i];
  for (uint64_t level = root()->level + 1; level-- > 0;)
    for (struct node *n = sibling_of(leftmost(level)); n; n = sibling_of(n))
      if (!has_parent(n)) link_child(n);
}

static void open_tree(const char *name) {
  file = file_open(name, (uint64_t)nodes_max * node_size);
  if (head()->magic != magic) {
    free_nodes = nodes_max - 1;
    used[0] = 1;
    struct node *n = take_node(0);
    persist(n, sizeof *n);
    head()->root = number_of(n);
    persist(head(), sizeof *head());
    used[number_of(n)] = 0;
    store_word(&head()->magic, magic);
    persist(head(), sizeof *head());
  }
  recover();
}

static const char *put(uint64_t key, uint64_t value) {
  struct node *leaf = descend(0, key);
  const struct slot *there = slot_of(leaf, key);
  if (there) {
    uint64_t *at = &leaf->slot[there - leaf->slot].value;
    store_word(at, value);
    persist_or_forget(at, sizeof *at);
    return "put";
  }
  if (free_nodes < levels_max) return "full";
  insert(leaf, key, value);
  return "put";
}

static const char *del(uint64_t key) {
  struct node *leaf = descend(0, key);
  const struct slot *there = slot_of(leaf, key);
  if (!there) return "none";
  remove_at(leaf, count_of(leaf), (unsigned)(there - leaf->slot));
  return "deleted";
}

static void list(void) {
  for (const struct node *n = leftmost(0); n; n = sibling_of(n)) {
    const unsigned count = count_of(n);
    for (unsigned i = 0; i < count; ++i)
      printf("%" PRIu64 " %" PRIu64 "\n", n->slot[i].key, n->slot[i].value);
  }
}

static void wrong(const struct node *n, const char *what) {
  printf("node %" PRIu64 " of level %" PRIu64 ": %s\n", number_of(n), n->level, what);
  exit(3);
}

// Each level's nodes, from the left to the right, are the children of the level above.
static void check(void) {
  uint64_t keys = 0;
  for (uint64_t level = root()->level + 1; level-- > 0;) {
    const struct node *below = level ? leftmost(level - 1) : NULL;
    uint64_t low = 0;
    for (const struct node *n = leftmost(level); n; n = sibling_of(n)) {
      if (n->level != level || n->low != low) wrong(n, "it is in the wrong place");
      if (level == root()->level && n->sibling) wrong(n, "the root has a sibling");
      const unsigned count = count_of(n);
      for (unsigned i = 0; i < count; ++i) {
        if (n->slot[i].key < low) wrong(n, "keys are out of order");
        low = n->slot[i].key + 1;
      }
      for (unsigned i = count; i < slots; ++i)
        if (n->slot[i].key != end_key) wrong(n, "there is something after its end");
      if (level == 0) {
        keys += count;
      } else {
        for (unsigned i = 0; i <= count; ++i) {
          const uint64_t child = i ? n->slot[i - 1].value : n->first;
          const uint64_t from = i ? n->slot[i - 1].key : n->low;
          if (!below || number_of(below) != child || below->low != from)
            wrong(n, "a child is missing");
          below = sibling_of(below);
        }
      }
      low = high_of(n);
    }
    if (below) wrong(below, "no parent has it");
  }
  printf("sound, %" PRIu64 " keys\n", keys);
}

int main(int argc, char **argv) {
  const struct arguments arguments = arguments_of(argc, argv);
  forget_flush = arguments.forget_flush;
  setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
  open_tree(arguments.file);
  char line[128], word[8];
  uint64_t key, value;
  while (fgets(line, sizeof line, stdin)) {
    key = value = 0;
    const int n = sscanf(line, "%7s %" SCNu64 " %" SCNu64, word, &key, &value);
    if (n == 1 && strcmp(word, "list") == 0) {
      list();
    } else if (n == 1 && strcmp(word, "check") == 0) {
      check();
    } else if (n < 2 || key == end_key) {
      puts("what?");
    } else if (n == 3 && strcmp(word, "put") == 0) {
      puts(put(key, value));
    } else if (n == 2 && strcmp(word, "del") == 0) {
      puts(del(key));
    } else if (n == 2 && strcmp(word, "get") == 0) {
      const struct slot *there = slot_of(descend(0, key), key);
      if (there)
        printf("%" PRIu64 "\n", there->value);
      else
        puts("none");
    } else {
      puts("what?");
    }
  }
  file_close(&file);
  return 0;
}
