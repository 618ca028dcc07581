// SPDX-License-Identifier: BSD-3-Clause
// Changes of live objects by a caller that has verified the bytes that it changes, and still has
// them. An example is the view of a shielded file, which tests each line that it commits
// (shield/view/commit_set.hpp). The changes become a write set without a micro-buffer, and no
// fragment is read as a whole. If a line in a page of 4 KiB has changed, the line, its parity and
// the page's header are touched.
//
// REPLACE-1 Checksums are updated from the bytes that the caller has verified, and only where the
//    medium holds the same. The parity changes by the difference to these very bytes (COL-3), since
//    the medium may be damaged a moment later.
// REPLACE-2 A header is trusted if its fragment was verified within the last half minute. It must
//    be the same, byte by byte, as it was then, or as this class has written it since. Any other is
//    verified first, with all that it vouches for: no checksum can be derived from a damaged one,
//    and the difference would reach the parity.
// REPLACE-3 If anything is not as it should be, or is not settled, nothing is written, and the
//    caller takes the long way (transaction.hpp), which repairs or refuses.
//
// On REPLACE-2: other damage in such a page stays, as in a page that no thread writes: checksum and
// parity continue to show it. But a power failure immediately after a commit may then take the
// commit back, if the damage is more than a run of lines (docs/internals/logfree.md, "The price";
// core/repair/erasure/decode_candidates.hpp, VERSION-3). So an old verification does not count.
#pragma once

#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "core/heap/object.hpp"
#include "core/shared/state.hpp"
#include "core/tx/engine.hpp"

namespace scute::core::tx {

// Used by one thread at a time: begin, put ..., prepare, [commit], committed.
class replacer {
 public:
  // fragments: the number in all objects that will be changed. Throws std::bad_alloc.
  replacer(pool::state& s, uint64_t fragments);

  void begin() noexcept;
  // [offset, offset + length) of an object, which is `old`, is to become `bytes`. Both stay the
  // caller's until the write set is committed. To be called in the order of the objects' places and
  // of the offsets; no two ranges overlap. first: the number of the object's first fragment among
  // all.
  void put(const heap::object& o, uint64_t first, uint64_t offset, const std::byte* bytes,
           const std::byte* old, uint64_t length);
  // The caller has the objects' locks (CONFLICT-1). False: REPLACE-3.
  bool prepare(pool::lane& l);
  write_set result() const noexcept { return {patches_, {}, members_}; }
  // The write set is durable.
  void committed() noexcept;

 private:
  struct range {
    uint32_t at, length;  // in the payload of its fragment
    const std::byte* bytes;
    const std::byte* old;
  };
  struct changed {
    pool::fragment where;
    uint64_t number;
    size_t begin;  // its first range
  };
  struct free_memory {
    void operator()(void* p) const noexcept { std::free(p); }
  };
  void fetch_ahead(const changed& c, std::span<const range> ranges) const noexcept;
  bool is_known(uint64_t number, const format::fragment_header& h) const noexcept;
  bool change(pool::lane& l, const changed& c, std::span<const range> ranges);
  std::span<const range> ranges_of(size_t i) const noexcept {
    const size_t begin = changed_[i].begin;
    const size_t end = i + 1 < changed_.size() ? changed_[i + 1].begin : ranges_.size();
    return std::span(ranges_).subspan(begin, end - begin);
  }

  pool::state& s_;
  // By fragment; zeros, which are no header, if unknown. Memory only for pages that change.
  std::unique_ptr<format::fragment_header[], free_memory> known_;
  std::unique_ptr<uint32_t[], free_memory> verified_;  // the period of the verification
  uint32_t period_ = 0;                                // of this write set
  std::vector<range> ranges_;
  std::vector<changed> changed_;
  std::vector<pool::patch> patches_;
  std::vector<member> members_;
  struct header_pair {
    format::fragment_header old, fresh;
  };
  std::vector<header_pair> headers_;  // of changed fragments, if they have any
};

}  // namespace scute::core::tx
