// SPDX-License-Identifier: BSD-3-Clause
// The reference: the states that a power failure may leave of a program that runs on persistent
// memory without a view. The tests report each instruction to it in the order in which they
// happened.
//
// PROG-1 Of the stores to a line some first ones are durable, as many as are forced at least (Intel
//    SDM vol. 3, 11.10; a line may be written back at any time). Which ones of other lines says
//    nothing about it.
// PROG-2 Bytes that a thread has flushed (clwb, clflushopt, or stored non-temporally) are forced
//    from its next sfence, mfence or locked instruction on; bytes flushed by clflush, at once.
// PROG-3 A state is permitted if it is one that a failure at some moment up to now could have left.
//    An earlier moment cannot be distinguished from a later one, unless the program was promised
//    something: the bytes that it has flushed before a fence that the view intercepted, when that
//    fence has returned; and the bytes that an msync covered.
//
// A locked instruction forces and promises nothing, since the view does not see it: an order that
// it makes must be kept, while that something is durable at once is known to no one outside
// (docs/internals/shield.md, "View and commit sets").
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "shield/view/line.hpp"

namespace scute::view_tests {

class x86_program {
 public:
  explicit x86_program(std::span<const std::byte> at_first)
      : versions_(at_first.size() / core::view::line_size) {
    for (size_t i = 0; i < versions_.size(); ++i) {
      core::view::line l;
      std::memcpy(l.bytes.data(), at_first.data() + i * sizeof l, sizeof l);
      versions_[i] = {l};
    }
    forced_.assign(versions_.size(), 0);
    promised_.assign(versions_.size(), 0);
    note();
  }

  void store(uint64_t line, unsigned word, uint64_t value) {
    core::view::line l = versions_[line].back();
    std::memcpy(l.bytes.data() + 8 * word, &value, 8);
    versions_[line].push_back(l);
    note();
  }
  // When the instruction has ended, with counts() of when it began: what others store to the line
  // meanwhile need not be written back, and a handler that interrupts it comes before it.
  void flush(unsigned thread, uint64_t line, size_t version) {
    flushed(thread).push_back({line, version});
  }
  // When it has ended. Every kind of fence; `promised` if the view has seen it and is not in a
  // window.
  void fence(unsigned thread, bool promised) {
    auto& list = flushed(thread);
    for (const auto& f : list) raise(forced_, f);
    auto& owed = owed_[thread];
    owed.insert(owed.end(), list.begin(), list.end());
    list.clear();
    if (promised) promise(thread);
    note();
  }
  // The end of a window with fences in it, which is no instruction: what was flushed before the
  // last of them.
  void promise(unsigned thread) {
    for (const auto& f : owed_[thread]) raise(promised_, f);
    owed_[thread].clear();
  }

  // The contents of a range when an msync of it begins; promised when the msync ends.
  std::vector<size_t> begin_sync() const {
    std::vector<size_t> n;
    for (const auto& v : versions_) n.push_back(v.size() - 1);
    return n;
  }
  void end_sync(const std::vector<size_t>& began, uint64_t first, uint64_t end) {
    for (uint64_t i = first; i < end; ++i) {
      raise(forced_, {i, began[i]});
      raise(promised_, {i, began[i]});
    }
    note();
  }
  // How many stores each line has seen.
  std::vector<size_t> counts() const { return begin_sync(); }
  // A death of the process, with the power on: what completed flushes have seen must be there.
  // Empty if it is.
  std::string survived(std::span<const std::byte> image, const std::vector<size_t>& least) const {
    for (uint64_t i = 0; i < versions_.size(); ++i) {
      const auto [first, last] = found(image, i);
      if (first > last || last < least[i]) return describe(i, image);
    }
    return {};
  }

  // Empty if the image of the medium is permitted now; else why it is not.
  std::string violation(std::span<const std::byte> image) const {
    std::vector<std::pair<size_t, size_t>> have;
    for (uint64_t i = 0; i < versions_.size(); ++i) {
      have.push_back(found(image, i));
      if (have.back().first > have.back().second) return "no moment had " + describe(i, image);
      if (have.back().second < promised_[i])
        return "a fence has returned, and it is not durable: " + describe(i, image);
    }
    for (size_t t = history_.size(); t-- > 0;) {
      bool fits = true;
      for (uint64_t i = 0; i < versions_.size() && fits; ++i)
        fits = have[i].first <= history_[t].count[i] && have[i].second >= history_[t].forced[i];
      if (fits) return {};
    }
    std::string text = "no moment had all of:";
    for (uint64_t i = 0; i < versions_.size(); ++i)
      if (versions_[i].size() > 1) text += "\n      " + describe(i, image);
    return text;
  }

 private:
  struct seen {
    uint64_t line;
    size_t version;
  };
  struct moment {
    std::vector<size_t> count, forced;  // by line
  };
  std::vector<seen>& flushed(unsigned thread) { return flushed_[thread]; }
  static void raise(std::vector<size_t>& to, const seen& f) {
    if (to[f.line] < f.version) to[f.line] = f.version;
  }
  void note() {
    moment m;
    for (const auto& v : versions_) m.count.push_back(v.size() - 1);
    m.forced = forced_;
    history_.push_back(std::move(m));
  }
  // The versions that the image has: values differ, so it is one of them, or the first of several
  // that are equal.
  std::pair<size_t, size_t> found(std::span<const std::byte> image, uint64_t line) const {
    size_t first = 1, last = 0;
    for (size_t j = 0; j < versions_[line].size(); ++j)
      if (std::memcmp(image.data() + line * sizeof(core::view::line),
                      versions_[line][j].bytes.data(), sizeof(core::view::line)) == 0) {
        if (first > last) first = j;
        last = j;
      }
    return {first, last};
  }
  std::string describe(uint64_t line, std::span<const std::byte> image) const {
    const auto [first, last] = found(image, line);
    return "line " + std::to_string(line) + ": " +
           (first > last ? "no version" : "version " + std::to_string(last)) + " of " +
           std::to_string(versions_[line].size() - 1) + ", forced " +
           std::to_string(forced_[line]) + ", promised " + std::to_string(promised_[line]);
  }

  std::vector<std::vector<core::view::line>> versions_;
  std::array<std::vector<seen>, 4> flushed_, owed_;  // by thread
  std::vector<size_t> forced_, promised_;
  std::vector<moment> history_;
};

}  // namespace scute::view_tests
