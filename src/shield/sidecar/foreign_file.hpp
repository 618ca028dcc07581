// SPDX-License-Identifier: BSD-3-Clause
// The user's file of an open foreign pool as a sequence of bytes: read verified and repaired,
// changed by sets of ranges of which a crash leaves all or none, and made longer.
//
// SLICE-1 A change is one transaction over all objects that its ranges lie in, so it has one
//    outcome.
// SLICE-2 Changes and growths of the file exclude each other: a growth makes the last fragment
//    longer, and would undo a concurrent change of it.
// SLICE-3 If the caller has the old bytes and has verified them, the change uses them
//    (core/tx/replacer.hpp), or is made like any other.
#pragma once

#include <span>

#include "core/session/instance.hpp"
#include "scute/shield.h"

namespace scute::core::shield {

class foreign_file {
 public:
  // The pool must stay open as long as this object lives. Throws SCUTE_E_INVALID if it is no
  // foreign one.
  explicit foreign_file(instance& in);

  uint64_t size() const noexcept;
  // The size that the file can grow to.
  uint64_t capacity() const noexcept;
  const std::string& path() const noexcept { return in_.s.user->path(); }

  // Bytes [offset, offset + n), as the last change has left them, each fragment verified and, if
  // need be, repaired. Throws SCUTE_E_RANGE, SCUTE_E_CORRUPT. Any thread.
  void read(uint64_t offset, void* to, uint64_t n);

  struct change {
    uint64_t offset;
    const void* bytes;
    uint64_t length;
  };
  // Makes all changes or none (SLICE-1), durably on return. They may overlap; then a later one
  // wins. Throws SCUTE_E_RANGE, SCUTE_E_NOSPC (nothing was changed; fewer at a time find room),
  // SCUTE_E_CORRUPT, SCUTE_E_IO. Any thread that runs no transaction.
  void commit(std::span<const change> changes);
  // The same for changes in the order of their places, none of which overlap, whose old bytes the
  // caller has verified (SLICE-3). Throws SCUTE_E_INVALID too.
  void replace(std::span<const scute_shield_replacement> changes);

  // Throws SCUTE_E_RANGE beyond the capacity, or if the file is longer; SCUTE_E_NOSPC.
  void grow(uint64_t size);
  // Reserves room for that size. Throws the same.
  void reserve(uint64_t size);

  // Where the byte at `offset` is, and how many after it are in the same object.
  struct place {
    uint64_t oid = 0, offset = 0, length = 0;
  };
  place locate(uint64_t offset) const;

 private:
  void require_no_transaction() const;
  void require_range(uint64_t offset, uint64_t n) const;
  bool try_replace(tx::transaction& t, std::span<const scute_shield_replacement> changes)
      SCUTE_REQUIRES(in_.user_file_mutex);
  void write(tx::transaction& t, uint64_t offset, const std::byte* from, uint64_t n) const;
  template <typename Range>
  void commit_ranges(tx::transaction& t, std::span<const Range> changes) const;
  template <typename Fn>
  void transact(Fn&& fn) SCUTE_REQUIRES(in_.user_file_mutex);

  instance& in_;
};

}  // namespace scute::core::shield
