// SPDX-License-Identifier: BSD-3-Clause
// What each line of a file held when it was flushed last (AUDIT-7). It lies in memory of an audit,
// which the supervisor has as well: a bit and a word for each line, so what was never flushed takes
// none.
//
// Threads: note() and forget() may be called by any thread and in handlers, for the same line at
// once. What is known of a line is of the flush that has looked at it last: a word has a number
// that rises with each note, so who was held up between his look and his note looks again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace scute::core::view {

class flushed_contents {
 public:
  static uint64_t size(uint64_t lines) noexcept;
  // size() bytes, zero at first, aligned to 4096.
  flushed_contents(std::span<std::byte> at, uint64_t lines) noexcept;

  // The line is flushed: `digest_now` is called for what it holds, perhaps more than once, and says
  // false if that cannot be known.
  template <typename Fn>
  void note(uint64_t line, Fn&& digest_now) noexcept {
    if (line >= lines_) return;
    std::atomic<uint64_t>& word = words_[line];
    for (uint64_t before = word.load();;) {
      uint64_t digest = 0;
      if (!digest_now(digest)) return forget(line);
      if (word.compare_exchange_strong(before, digest_bits(digest) | ((before + 1) & number_bits)))
        break;
    }
    known_[line / 64].fetch_or(bit_of(line));
  }
  void forget(uint64_t line) noexcept {
    if (line < lines_ && (known(line / 64) & bit_of(line)) != 0)
      known_[line / 64].fetch_and(~bit_of(line));
  }
  // Of 64 lines, the first one's number by 64: those of which something is known.
  uint64_t known(uint64_t word) const noexcept {
    return word < (lines_ + 63) / 64 ? known_[word].load() : 0;
  }
  // Of a line that something is known of.
  bool was(uint64_t line, uint64_t digest) const noexcept {
    return digest_bits(words_[line].load()) == digest_bits(digest);
  }

 private:
  static constexpr uint64_t number_bits = 0xffff;
  static constexpr uint64_t digest_bits(uint64_t word) noexcept { return word & ~number_bits; }
  static constexpr uint64_t bit_of(uint64_t line) noexcept { return uint64_t{1} << line % 64; }

  uint64_t lines_;
  std::atomic<uint64_t>*known_, *words_;
};

}  // namespace scute::core::view
