// SPDX-License-Identifier: BSD-3-Clause
// The pool that most scenarios work on: the root names a few
// directories, one for each thread, and a directory names objects of raw bytes. The contents of a
// directory can be read as text.
#pragma once

#include <scute/testing.hpp>

#include <cstdint>
#include <functional>
#include <string>

namespace scute::explore {

inline constexpr uint64_t slots = 12;

struct directory {
  scute_oid objects[slots];
};
struct directories {
  scute_oid of_thread[3];
};

// Makes the directories; to be called in a scenario's setup.
void make_directories(scute::pool& p);

// One transaction, with what a scenario does to a directory and its objects. Ends by commit(), or
// aborts when destroyed.
class change {
 public:
  change(scute::pool& p, unsigned thread);
  ~change();
  change(const change&) = delete;
  change& operator=(const change&) = delete;

  bool has(uint64_t slot) const;
  uint64_t size(uint64_t slot) const;
  scute_oid oid(uint64_t slot) const;

  void alloc(uint64_t slot, uint64_t size, unsigned fill);
  void* alloc_zeros(uint64_t slot, uint64_t size);
  void free(uint64_t slot);
  // The whole object, through a micro-buffer.
  void overwrite(uint64_t slot, unsigned fill);
  // Opens the whole object and changes its first n bytes.
  void touch(uint64_t slot, uint64_t n, unsigned fill);
  // A range, through a micro-buffer or in place.
  void edit(uint64_t slot, uint64_t at, uint64_t length, unsigned fill);
  void edit_in_place(uint64_t slot, uint64_t at, uint64_t length, unsigned fill);
  void commit();
  void abort();

 private:
  scute::pool& pool_;
  scute_tx* tx_ = nullptr;
  scute_oid directory_ = 0;
};

// One transaction of `body`.
void commit(scute::pool& p, unsigned thread, const std::function<void(change&)>& body);

scute_oid oid_of(scute::pool& p, unsigned thread, uint64_t slot);
// Where the object's payload lies in the file.
uint64_t offset_of(scute::pool& p, unsigned thread, uint64_t slot);

// Throws unless these bytes of an object are those that fill_bytes() makes.
void expect(scute::pool& p, unsigned thread, uint64_t slot, uint64_t at, uint64_t length,
            unsigned fill);

// A scenario whose threads each answer for the contents of their directory.
testing::scenario with_directories(const std::string& name, testing::pool_kind protection,
                                   unsigned threads = 1);

// Slot by slot: size and a hash of the bytes. Reads with verification.
std::string contents(scute::pool& p, unsigned thread);

// Bytes that follow from a number.
void fill_bytes(void* to, uint64_t n, unsigned fill) noexcept;

}  // namespace scute::explore
