// SPDX-License-Identifier: BSD-3-Clause
// A B+tree in a mapped file, written without knowledge of the shield: nodes of 512 bytes, keys
// shifted in place, flushes of the changed bytes. Inserts, looks up and removes keys.
//
// options: detect
// flags: -mclwb
// shadow: none
#include <immintrin.h>
#include <stdio.h>
#include <string.h>

#include "view.h"

enum { order = 30, nodes_max = VIEW_SIZE / 512 };

struct node {
  uint32_t count, leaf;
  struct node *next;
  uint64_t keys[order];
  union {
    struct node *children[order + 1];
    uint64_t values[order + 1];
  };
};

_Static_assert(sizeof(struct node) <= 512, "a node fits its place");

struct tree {
  struct node *root;
  uint64_t used, size;
};

static struct tree *tree;

static void persist(const void *begin, size_t length) {
  const char *end = (const char *)begin + length;
  for (const char *line = (const char *)((uintptr_t)begin & ~(uintptr_t)63); line < end; line += 64)
    view_flush(line);
  _mm_sfence();
}

static struct node *node_new(uint32_t leaf) {
  if (tree->used == nodes_max) abort();
  struct node *node = (struct node *)(view_map() + tree->used++ * 512);
  memset(node, 0, sizeof *node);
  node->leaf = leaf;
  return node;
}

static uint32_t position_of(const struct node *node, uint64_t key) {
  uint32_t i = 0;
  while (i < node->count && node->keys[i] < key) ++i;
  return i;
}

static void insert_at(struct node *node, uint32_t at, uint64_t key, uint64_t value,
                      struct node *child) {
  for (uint32_t i = node->count; i > at; --i) {
    node->keys[i] = node->keys[i - 1];
    if (node->leaf) {
      node->values[i] = node->values[i - 1];
    } else {
      node->children[i + 1] = node->children[i];
    }
  }
  node->keys[at] = key;
  if (node->leaf) {
    node->values[at] = value;
  } else {
    node->children[at + 1] = child;
  }
  ++node->count;
  persist(node, sizeof *node);
}

static struct node *split(struct node *node, uint64_t *separator) {
  struct node *right = node_new(node->leaf);
  const uint32_t half = node->count / 2;
  const uint32_t first = node->leaf ? half : half + 1;
  *separator = node->keys[half];
  right->count = node->count - first;
  for (uint32_t i = 0; i < right->count; ++i) right->keys[i] = node->keys[first + i];
  if (node->leaf) {
    for (uint32_t i = 0; i < right->count; ++i) right->values[i] = node->values[first + i];
    right->next = node->next;
  } else {
    for (uint32_t i = 0; i <= right->count; ++i) right->children[i] = node->children[first + i];
  }
  persist(right, sizeof *right);
  if (node->leaf) node->next = right;
  node->count = half;
  persist(node, sizeof *node);
  return right;
}

static struct node *insert_below(struct node *node, uint64_t key, uint64_t value,
                                 uint64_t *separator) {
  uint32_t at = position_of(node, key);
  if (node->leaf) {
    if (at < node->count && node->keys[at] == key) {
      node->values[at] = value;
      persist(&node->values[at], sizeof node->values[at]);
      return NULL;
    }
    insert_at(node, at, key, value, NULL);
    ++tree->size;
  } else {
    if (at < node->count && node->keys[at] == key) ++at;
    uint64_t middle = 0;
    struct node *right = insert_below(node->children[at], key, value, &middle);
    if (!right) return NULL;
    insert_at(node, at, middle, 0, right);
  }
  return node->count == order ? split(node, separator) : NULL;
}

static void insert(uint64_t key, uint64_t value) {
  uint64_t separator = 0;
  struct node *right = insert_below(tree->root, key, value, &separator);
  if (right) {
    struct node *root = node_new(0);
    root->count = 1;
    root->keys[0] = separator;
    root->children[0] = tree->root;
    root->children[1] = right;
    persist(root, sizeof *root);
    tree->root = root;
  }
  persist(tree, sizeof *tree);
}

static uint64_t *find(uint64_t key) {
  struct node *node = tree->root;
  while (!node->leaf) {
    uint32_t at = position_of(node, key);
    if (at < node->count && node->keys[at] == key) ++at;
    node = node->children[at];
  }
  const uint32_t at = position_of(node, key);
  return at < node->count && node->keys[at] == key ? &node->values[at] : NULL;
}

// Leaves may become empty; nodes are not joined.
static int take(uint64_t key) {
  struct node *node = tree->root;
  while (!node->leaf) {
    uint32_t at = position_of(node, key);
    if (at < node->count && node->keys[at] == key) ++at;
    node = node->children[at];
  }
  uint32_t at = position_of(node, key);
  if (at == node->count || node->keys[at] != key) return 0;
  for (; at + 1 < node->count; ++at) {
    node->keys[at] = node->keys[at + 1];
    node->values[at] = node->values[at + 1];
  }
  --node->count;
  --tree->size;
  persist(node, sizeof *node);
  persist(tree, sizeof *tree);
  return 1;
}

int main(int count, char **arguments) {
  const unsigned rounds = count > 1 ? (unsigned)atoi(arguments[1]) : 4000;
  enum { keys = 3000 };
  static uint64_t model[keys];
  tree = (struct tree *)view_map();
  tree->used = 1;
  tree->root = node_new(1);
  uint64_t random = 88172645463325252U;
  for (unsigned i = 0; i < rounds; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    const uint64_t key = random % keys;
    const unsigned what = (unsigned)(random >> 32) % 8;
    if (what < 3) {
      insert(key, i + 1);
      model[key] = i + 1;
    } else if (what < 7) {
      const uint64_t *value = find(key);
      if ((value ? *value : 0) != model[key]) return 1;
    } else {
      if (take(key) != (model[key] != 0)) return 2;
      model[key] = 0;
    }
  }
  for (uint64_t key = 0; key < keys; ++key) {
    const uint64_t *value = find(key);
    if ((value ? *value : 0) != model[key]) return 3;
  }
  return 0;
}
