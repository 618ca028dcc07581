// SPDX-License-Identifier: BSD-3-Clause
// What each line of a file held when it was last flushed (AUDIT-7). It is in memory of an audit
// that the supervisor shares: a bit and a word for each line. Lines that were never flushed take no
// memory.
//
// Threads: any thread may call note() and forget(), also in handlers and for the same line at once.
// The note of a line is that of the flush that read the line last. Each word has a number that
// rises with each note. So a thread that was delayed between its read and its note notices it, and
// reads again.
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

  // The line is flushed. `digest_now` is called for its contents, perhaps more than once, and
  // returns false if they cannot be known.
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
  // The lines with a note among the 64 lines from line 64 * word on, as bits.
  uint64_t known(uint64_t word) const noexcept {
    return word < (lines_ + 63) / 64 ? known_[word].load() : 0;
  }
  // Whether the line, which has a note, had this digest.
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
