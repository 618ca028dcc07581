// SPDX-License-Identifier: BSD-3-Clause
// The C interface of stores: the linked list of the paper's listings, and handles in a forked
// child.
#include <scute/pow.h>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/left_memory.hpp"
#include "support/scratch.hpp"

namespace scute::test {
namespace {

struct node {
  uint64_t curr, next, value;
};
struct list {
  uint64_t length, head;
};

// Listings 2 and 3 of ENTS: nodes know each other by their addresses, which are mapped again
// after a restart.
TEST(Paper, LinkedList) {
  const scratch folder;
  const std::string path = folder.file("list.pow");
  for (int run = 0; run < 3; ++run) {
    scute_pow* store = nullptr;
    scute_pow_file *lists = nullptr, *nodes = nullptr;
    ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK) << scute_errormsg();
    ASSERT_EQ(scute_pow_alloc(store, "list", sizeof(list), &lists), SCUTE_OK);
    ASSERT_EQ(scute_pow_alloc(store, "nodes", sizeof(node), &nodes), SCUTE_OK);
    uint64_t count = 0;
    ASSERT_EQ(scute_pow_count(nodes, &count), SCUTE_OK);
    EXPECT_EQ(count, static_cast<uint64_t>(run) * 10);
    // Recover.
    list l{0, 0};
    std::deque<node> all;
    std::map<uint64_t, uint64_t> now_at{{0, 0}};
    for (uint64_t i = 0; i < count; ++i) {
      const void* bytes = nullptr;
      ASSERT_EQ(scute_pow_load(nodes, i, &bytes), SCUTE_OK);
      node& n = all.emplace_back();
      std::memcpy(&n, bytes, sizeof n);
      now_at[n.curr] = reinterpret_cast<uint64_t>(&n);
      ASSERT_EQ(scute_pow_adopt(nodes, i, &n), SCUTE_OK);
    }
    if (count != 0) {
      const void* bytes = nullptr;
      ASSERT_EQ(scute_pow_load(lists, 0, &bytes), SCUTE_OK);
      std::memcpy(&l, bytes, sizeof l);
      ASSERT_EQ(scute_pow_adopt(lists, 0, &l), SCUTE_OK);
    }
    scute_pow_section* s = nullptr;
    ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
    for (node& n : all) {
      n.curr = now_at.at(n.curr);
      n.next = now_at.at(n.next);
      ASSERT_EQ(scute_pow_store(nodes, &n), SCUTE_OK);
    }
    l.head = now_at.at(l.head);
    ASSERT_EQ(scute_pow_epoch(lists, &l), SCUTE_OK) << scute_errormsg();
    uint64_t seen = 0;
    for (uint64_t at = l.head; at != 0; ++seen)
      at = reinterpret_cast<const node*>(at)->next;  // NOLINT(performance-no-int-to-ptr)
    EXPECT_EQ(seen, l.length);
    EXPECT_EQ(seen, count);
    // Insert ten.
    for (uint64_t i = 0; i < 10; ++i) {
      ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
      node& n = all.emplace_back();
      n = {reinterpret_cast<uint64_t>(&n), l.head, i};
      l = {l.length + 1, n.curr};
      ASSERT_EQ(scute_pow_store(nodes, &n), SCUTE_OK);
      ASSERT_EQ(scute_pow_epoch(lists, &l), SCUTE_OK) << scute_errormsg();
    }
    ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
  }
}

// scute_pow_undo_copy(): newest first if the section aborts, aligned, and not at all if it commits.
TEST(Undo, CopiesComeBackIfTheSectionAborts) {
  const scratch folder;
  scute_pow* store = nullptr;
  ASSERT_EQ(scute_pow_open(folder.file("s.pow").c_str(), nullptr, &store), SCUTE_OK);
  using text = std::string;
  const auto back = [](void* who, void* what) {
    auto& all = *static_cast<std::vector<text>*>(who);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(what) % alignof(std::max_align_t), 0U);
    all.emplace_back(static_cast<const char*>(what));
  };
  for (const bool commits : {false, true, false}) {
    std::vector<text> called, expected;
    scute_pow_section* s = nullptr;
    ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
    for (size_t n : {1, 100, 3000, 5, 20000, 4096, 17}) {
      const text bytes(n, static_cast<char>('a' + n % 26));
      ASSERT_EQ(scute_pow_undo_copy(s, back, &called, bytes.c_str(), n + 1), SCUTE_OK);
      expected.insert(expected.begin(), bytes);
    }
    EXPECT_EQ(scute_pow_undo_copy(s, nullptr, &called, "x", 1), SCUTE_E_INVALID);
    EXPECT_EQ(scute_pow_undo_copy(s, back, &called, nullptr, 1), SCUTE_E_INVALID);
    ASSERT_EQ(commits ? scute_pow_commit(s) : scute_pow_abort(s), SCUTE_OK);
    EXPECT_EQ(scute_pow_undo_copy(s, back, &called, "x", 1), SCUTE_E_NOTX);
    EXPECT_EQ(called, commits ? std::vector<text>() : expected);
  }
  EXPECT_EQ(scute_pow_close(store), SCUTE_OK);
}

// An object stored in a section that was aborted has a number, and is not present.
TEST(Paper, AbortedObjects) {
  const scratch folder;
  const std::string path = folder.file("list.pow");
  scute_pow* store = nullptr;
  scute_pow_file* file = nullptr;
  scute_pow_section* s = nullptr;
  const uint64_t one = 1, two = 2;
  uint64_t count = 0, lost = 1;
  const void* bytes = nullptr;
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "file", sizeof one, &file), SCUTE_OK);
  ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
  ASSERT_EQ(scute_pow_store(file, &one), SCUTE_OK);
  ASSERT_EQ(scute_pow_abort(s), SCUTE_OK);
  ASSERT_EQ(scute_pow_store(file, &two), SCUTE_OK);
  for (int run = 0; run < 2; ++run) {
    ASSERT_EQ(scute_pow_count(file, &count), SCUTE_OK);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(scute_pow_load(file, 0, &bytes), SCUTE_E_FREED);
    EXPECT_EQ(scute_pow_adopt(file, 0, &one), SCUTE_E_FREED);
    ASSERT_EQ(scute_pow_load(file, 1, &bytes), SCUTE_OK);
    EXPECT_EQ(std::memcmp(bytes, &two, sizeof two), 0);
    // The program has not adopted it yet.
    EXPECT_EQ(scute_pow_check(store, SCUTE_POW_COMPARE, nullptr, nullptr, &lost), SCUTE_OK);
    EXPECT_EQ(lost, 0U);
    ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
    if (run != 0) break;
    ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
    ASSERT_EQ(scute_pow_alloc(store, "file", sizeof one, &file), SCUTE_OK);
  }
}

// One object has one address.
TEST(Paper, AnObjectIsAdoptedOnce) {
  const scratch folder;
  const std::string path = folder.file("list.pow");
  scute_pow* store = nullptr;
  scute_pow_file* file = nullptr;
  const uint64_t words[3] = {1, 2, 3};
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "file", sizeof words[0], &file), SCUTE_OK);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(scute_pow_store(file, &words[i]), SCUTE_OK);
  EXPECT_EQ(scute_pow_adopt(file, 0, &words[2]), SCUTE_E_EXISTS) << "it was stored from words[0]";
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "file", sizeof words[0], &file), SCUTE_OK);
  EXPECT_EQ(scute_pow_adopt(file, 0, &words[0]), SCUTE_OK);
  EXPECT_EQ(scute_pow_adopt(file, 0, &words[0]), SCUTE_E_EXISTS);
  EXPECT_EQ(scute_pow_adopt(file, 0, &words[2]), SCUTE_E_EXISTS);
  EXPECT_EQ(scute_pow_adopt(file, 1, &words[0]), SCUTE_E_EXISTS);
  EXPECT_EQ(scute_pow_adopt(file, 1, &words[2]), SCUTE_OK);
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
}

#ifdef SCUTE_TEST_COUNTS_MEMORY
// A file may have an object with any index. Its memory is that of one object.
TEST(Paper, AHighIndexTakesNoMemory) {
  constexpr uint64_t high = 20'000'000;
  const scratch folder;
  const std::string path = folder.file("list.pow");
  scute_pow* store = nullptr;
  scute_pow_table* table = nullptr;
  scute_pow_file* file = nullptr;
  scute_pow_section* s = nullptr;
  scute_pow_serializer k{};
  k.struct_size = sizeof k;
  k.type = 0x616c6c00;  // as scute_pow_alloc() names it
  k.size = 8;
  k.chooses_indexes = 1;
  k.encode = [](void*, uint64_t index, void* to) { std::memcpy(to, &index, 8); };
  k.load = [](void*, uint64_t, const void*, uint32_t) { return 0; };
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_table_open(store, "file", &k, &table), SCUTE_OK);
  ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
  uint64_t id = 0;
  ASSERT_EQ(scute_pow_new(s, table, high, &id), SCUTE_OK);
  ASSERT_EQ(scute_pow_commit(s), SCUTE_OK);
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  const size_t before = memory_in_use();
  ASSERT_EQ(scute_pow_alloc(store, "file", 8, &file), SCUTE_OK);
  EXPECT_LT(memory_in_use(), before + (size_t{1} << 20));
  uint64_t count = 0;
  const void* bytes = nullptr;
  EXPECT_EQ(scute_pow_count(file, &count), SCUTE_OK);
  EXPECT_EQ(count, high + 1);
  EXPECT_EQ(scute_pow_load(file, high - 1, &bytes), SCUTE_E_FREED);
  ASSERT_EQ(scute_pow_load(file, high, &bytes), SCUTE_OK);
  EXPECT_EQ(std::memcmp(bytes, &high, sizeof high), 0);
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
}
#endif

// Objects are made by other threads while this one writes its own.
TEST(Paper, Threads) {
  const scratch folder;
  const std::string path = folder.file("list.pow");
  scute_pow* store = nullptr;
  scute_pow_file* file = nullptr;
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "nodes", sizeof(node), &file), SCUTE_OK);
  constexpr uint64_t each = 5000;
  std::deque<node> all[3];
  std::vector<std::thread> threads;
  for (auto& mine : all)
    threads.emplace_back([&mine, file] {
      for (uint64_t i = 0; i < each; ++i) {
        node& n = mine.emplace_back();
        n.curr = n.next = n.value = reinterpret_cast<uint64_t>(&n);
        if (scute_pow_store(file, &n) != SCUTE_OK) break;
      }
    });
  for (std::thread& t : threads) t.join();
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
  ASSERT_EQ(scute_pow_open(path.c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "nodes", sizeof(node), &file), SCUTE_OK);
  uint64_t count = 0;
  ASSERT_EQ(scute_pow_count(file, &count), SCUTE_OK);
  EXPECT_EQ(count, 3 * each);
  for (uint64_t i = 0; i < count; ++i) {
    const void* bytes = nullptr;
    ASSERT_EQ(scute_pow_load(file, i, &bytes), SCUTE_OK);
    node n{};
    std::memcpy(&n, bytes, sizeof n);
    ASSERT_EQ(n.curr, n.next);
    ASSERT_EQ(n.curr, n.value);
  }
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
}

// An object that could not be found again is not made.
TEST(Indexes, OutOfReachAreRefused) {
  const scratch folder;
  scute_pow* store = nullptr;
  scute_pow_table* table = nullptr;
  scute_pow_section* s = nullptr;
  scute_pow_options o;
  scute_pow_options_init(&o);
  o.max_size = o.size;
  ASSERT_EQ(scute_pow_open(folder.file("s.pow").c_str(), &o, &store), SCUTE_OK);
  scute_pow_serializer k{};
  k.struct_size = sizeof k;
  k.size = 8;
  k.chooses_indexes = 1;
  k.encode = [](void*, uint64_t index, void* to) { std::memcpy(to, &index, 8); };
  k.load = [](void*, uint64_t, const void*, uint32_t) { return 0; };
  ASSERT_EQ(scute_pow_table_open(store, "t", &k, &table), SCUTE_OK);
  ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
  uint64_t id = 0;
  EXPECT_EQ(scute_pow_new(s, table, uint64_t{1} << 40, &id), SCUTE_E_RANGE);
  EXPECT_EQ(scute_pow_new(s, table, 10'000'000, &id), SCUTE_E_RANGE);
  EXPECT_EQ(scute_pow_new(s, table, 10'000, &id), SCUTE_OK);
  EXPECT_EQ(scute_pow_commit(s), SCUTE_OK);
  ASSERT_EQ(scute_pow_close(store), SCUTE_OK);
}

TEST(Forked, ChildrenAreRefused) {
  const scratch folder;
  scute_pow* store = nullptr;
  scute_pow_file* file = nullptr;
  scute_pow_options o;
  scute_pow_options_init(&o);
  o.flags = SCUTE_POW_NO_CLEANER;
  ASSERT_EQ(scute_pow_open(folder.file("s.pow").c_str(), &o, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "f", 8, &file), SCUTE_OK);
  scute_pow_section* s = nullptr;
  ASSERT_EQ(scute_pow_begin(store, SCUTE_POW_STRICT, &s), SCUTE_OK);
  const pid_t child = ::fork();
  if (child == 0) {
    uint64_t n = 0;
    const bool refused =
        scute_pow_sync(store) == SCUTE_E_FORKED &&
        scute_pow_clean(store, 1, &n) == SCUTE_E_FORKED &&
        scute_pow_begin(store, SCUTE_POW_STRICT, &s) == SCUTE_E_FORKED &&
        scute_pow_commit(s) == SCUTE_E_FORKED && scute_pow_abort(s) == SCUTE_E_FORKED &&
        scute_pow_store(file, &n) == SCUTE_E_FORKED && scute_pow_close(store) == SCUTE_OK;
    ::_exit(refused ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(scute_pow_abort(s), SCUTE_OK);
  EXPECT_EQ(scute_pow_close(store), SCUTE_OK);
}

}  // namespace
}  // namespace scute::test
