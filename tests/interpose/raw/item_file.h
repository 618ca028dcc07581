/* SPDX-License-Identifier: BSD-3-Clause
 *
 * item_file.h: items, a key and a value each, in a mapped file. A table of buckets leads to chains
 * of items. The items lie in slabs of chunks of one size. Any thread may call it. Nothing here
 * knows of the shield.
 *
 * Why the file survives a power failure at any moment: an item is durable before one word leads to
 * it, in the place of the item that it replaces, if any. A chunk is free again when the word that
 * led to it is durable. A slab's class is durable before an item is in it. The chunks that no chain
 * leads to are free: memory holds their list, and the locks.
 */
#ifndef ITEM_FILE_H
#define ITEM_FILE_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flush.h"
#include "mapped_file.h"

enum {
  items_buckets = 1024,
  items_stripes = 64,
  items_slabs = 255,
  items_classes = 6,
  items_slab_size = 16384,
  items_chunk_min = 64,
  items_chunk_max = 2048,
  items_key_max = 64
};
static const uint64_t items_magic = 0x736d6574692d7721;

struct item {
  uint64_t next; /* 0: the last one; else where it is in the file, as all links */
  uint32_t value_length;
  uint32_t key_length;
  char bytes[]; /* the key, then the value */
};

/* The first slab's place. The rest of the file is slabs. */
struct item_head {
  uint64_t magic;
  uint64_t room[7];
  uint8_t slab_class[items_slabs + 1]; /* 0: free; else the class of its chunks, plus 1 */
  uint64_t bucket[items_buckets] __attribute__((aligned(64)));
};

_Static_assert(sizeof(struct item_head) <= items_slab_size, "the head fits its place");

static struct item_file {
  struct mapped_file file;
  int forget_flush;
  pthread_mutex_t stripe[items_stripes], room;
  uint64_t *chunk[items_classes]; /* the free ones, the next one last */
  unsigned chunks[items_classes];
} items;

static struct item_head *items_head(void) {
  return (struct item_head *)items.file.bytes;
}
static struct item *item_at(uint64_t place) {
  return (struct item *)(items.file.bytes + place);
}
static size_t item_size(const struct item *i) {
  return sizeof *i + i->key_length + i->value_length;
}

static uint64_t items_hash(const char *key, size_t length) {
  uint64_t h = 0xcbf29ce484222325;
  for (size_t i = 0; i < length; ++i) h = (h ^ (unsigned char)key[i]) * 0x100000001b3;
  return h;
}
static uint64_t *items_bucket(uint64_t hash) {
  return &items_head()->bucket[hash % items_buckets];
}
static pthread_mutex_t *items_lock(uint64_t hash) {
  return &items.stripe[hash % items_stripes];
}

static unsigned items_class_of(size_t size) {
  unsigned class = 0;
  while ((size_t)items_chunk_min << class < size) ++class;
  return class;
}

static void items_add_free(unsigned class, uint64_t place) {
  items.chunk[class][items.chunks[class]++] = place;
}

/* 0: there is none. */
static uint64_t items_take_chunk(unsigned class) {
  pthread_mutex_lock(&items.room);
  if (items.chunks[class] == 0) {
    uint8_t *classes = items_head()->slab_class;
    unsigned slab = 1;
    while (slab <= items_slabs && classes[slab]) ++slab;
    if (slab <= items_slabs) {
      classes[slab] = (uint8_t)(class + 1);
      persist(&classes[slab], 1);
      const uint64_t size = (uint64_t)items_chunk_min << class;
      for (uint64_t at = items_slab_size; at > 0; at -= size)
        items_add_free(class, (uint64_t)slab * items_slab_size + at - size);
    }
  }
  const uint64_t place = items.chunks[class] ? items.chunk[class][--items.chunks[class]] : 0;
  pthread_mutex_unlock(&items.room);
  return place;
}

static void items_give_chunk(uint64_t place) {
  pthread_mutex_lock(&items.room);
  items_add_free(items_head()->slab_class[place / items_slab_size] - 1u, place);
  pthread_mutex_unlock(&items.room);
}

/* The word that leads to the key's item, or the 0 at the end of its chain. With its lock held. */
static uint64_t *items_link(uint64_t hash, const char *key, size_t key_length) {
  uint64_t *link = items_bucket(hash);
  for (; *link; link = &item_at(*link)->next) {
    const struct item *i = item_at(*link);
    if (i->key_length == key_length && memcmp(i->bytes, key, key_length) == 0) break;
  }
  return link;
}

static void items_lead(uint64_t *link, uint64_t place) {
  store_word(link, place);
  persist(link, sizeof *link);
}

static const char *items_set(const char *key, size_t key_length, const char *value,
                             size_t value_length) {
  const size_t size = sizeof(struct item) + key_length + value_length;
  if (key_length > items_key_max || size > items_chunk_max) return "too long";
  const uint64_t place = items_take_chunk(items_class_of(size));
  if (!place) return "full";
  const uint64_t hash = items_hash(key, key_length);
  pthread_mutex_lock(items_lock(hash));
  uint64_t *link = items_link(hash, key, key_length);
  const uint64_t old = *link;
  if (!old) link = items_bucket(hash);
  struct item *i = item_at(place);
  i->next = old ? item_at(old)->next : *link;
  i->key_length = (uint32_t)key_length;
  i->value_length = (uint32_t)value_length;
  memcpy(i->bytes, key, key_length);
  memcpy(i->bytes + key_length, value, value_length);
  if (!items.forget_flush) persist(i, size); /* or the programmer's mistake, if it was asked for */
  items_lead(link, place);
  pthread_mutex_unlock(items_lock(hash));
  if (old) items_give_chunk(old);
  return "stored";
}

static const char *items_delete(const char *key, size_t key_length) {
  const uint64_t hash = items_hash(key, key_length);
  pthread_mutex_lock(items_lock(hash));
  uint64_t *link = items_link(hash, key, key_length);
  const uint64_t old = *link;
  if (old) items_lead(link, item_at(old)->next);
  pthread_mutex_unlock(items_lock(hash));
  if (old) items_give_chunk(old);
  return old ? "deleted" : "none";
}

/* Into `to`, which takes any. Its length, or -1. */
static long items_get(const char *key, size_t key_length, char *to) {
  const uint64_t hash = items_hash(key, key_length);
  pthread_mutex_lock(items_lock(hash));
  const uint64_t place = *items_link(hash, key, key_length);
  const long length = place ? (long)item_at(place)->value_length : -1;
  if (place) memcpy(to, item_at(place)->bytes + key_length, (size_t)length);
  pthread_mutex_unlock(items_lock(hash));
  return length;
}

/* Prints all items to `to`, if it is not NULL. Returns how many, or -1 if the file is inconsistent:
 * `wrong` then says why. `seen` gets a mark for each chunk in use. The caller lets no other thread
 * run here. */
static long items_walk(FILE *to, unsigned char *seen, const char **wrong) {
  long count = 0;
  for (unsigned b = 0; b < items_buckets; ++b) {
    for (uint64_t place = items_head()->bucket[b]; place;) {
      const unsigned class = place / items_slab_size <= items_slabs
                                 ? items_head()->slab_class[place / items_slab_size]
                                 : 0;
      const uint64_t size = (uint64_t)items_chunk_min << class >> 1;
      const struct item *i = item_at(place);
      *wrong = class == 0 || class > items_classes || place % size != 0 ? "a link leads nowhere"
               : seen[place / items_chunk_min] ? "two links lead to one item"
               : i->key_length == 0 || i->key_length > items_key_max || i->value_length > size ||
                       item_size(i) > size
                   ? "an item has no key"
               : items_hash(i->bytes, i->key_length) % items_buckets != b
                   ? "an item is in another one's chain"
                   : NULL;
      if (*wrong) return -1;
      seen[place / items_chunk_min] = 1;
      if (to)
        fprintf(to, "%.*s %.*s\n", (int)i->key_length, i->bytes, (int)i->value_length,
                i->bytes + i->key_length);
      ++count;
      place = i->next;
    }
  }
  return count;
}

static unsigned char *items_marks(void) {
  return (unsigned char *)calloc(items.file.size / items_chunk_min, 1);
}

static void items_open(const char *name, int forget_flush) {
  items.file = file_open(name, (uint64_t)(items_slabs + 1) * items_slab_size);
  items.forget_flush = forget_flush;
  if (items_head()->magic != items_magic) items_lead(&items_head()->magic, items_magic);
  pthread_mutex_init(&items.room, NULL);
  for (unsigned s = 0; s < items_stripes; ++s) pthread_mutex_init(&items.stripe[s], NULL);
  const char *wrong;
  unsigned char *seen = items_marks();
  if (items_walk(NULL, seen, &wrong) < 0) {
    printf("%s\n", wrong);
    exit(3);
  }
  for (unsigned c = 0; c < items_classes; ++c)
    items.chunk[c] =
        (uint64_t *)malloc(items.file.size / (items_chunk_min << c) * sizeof(uint64_t));
  for (unsigned slab = items_slabs; slab > 0; --slab) {
    const unsigned class = items_head()->slab_class[slab];
    const uint64_t size = (uint64_t)items_chunk_min << class >> 1;
    for (uint64_t at = items_slab_size; class && at > 0; at -= size) {
      const uint64_t place = (uint64_t)slab * items_slab_size + at - size;
      if (!seen[place / items_chunk_min]) items_add_free(class - 1, place);
    }
  }
  free(seen);
}

static void items_close(void) {
  for (unsigned c = 0; c < items_classes; ++c) free(items.chunk[c]);
  file_close(&items.file);
}

#endif
