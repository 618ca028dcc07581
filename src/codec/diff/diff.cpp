// SPDX-License-Identifier: BSD-3-Clause
#include "codec/diff/diff.hpp"

#include <algorithm>
#include <bit>

#include "codec/bytes.hpp"
#include "codec/diff/diff_table.hpp"
#include "codec/dispatch.hpp"
#include "codec/target.hpp"

namespace scute::core::codec {

namespace {

constexpr const diff_table* tables[] = {
    &diff_portable,
#if SCUTE_CODEC_X86
    &diff_sse42,
    &diff_avx2,
    &diff_avx512,
#endif
};

constinit dispatch<diff_table> active{&diff_portable};
[[maybe_unused]] const bool selected = active.select(tables);

// Grows one range word by word. Positions are word numbers.
class range_builder {
 public:
  explicit range_builder(size_t gap) : gap_words_(gap <= 8 ? 1 : gap / 8 + (gap % 8 != 0)) {}

  [[nodiscard]] bool open() const { return end_ != 0; }
  [[nodiscard]] size_t begin() const { return begin_; }
  [[nodiscard]] size_t end() const { return end_; }

  // Starts with the single word `word`.
  void open_at(size_t word) {
    begin_ = word;
    end_ = word + 1;
  }

  // Takes 64 words from `first` on. Returns true when the range is known to end. No loop over the
  // changed words: data that changes in every other word must not be slower than data that does
  // not.
  bool take(uint64_t differing, size_t first) {
    if (differing != 0) {
      const auto low = static_cast<unsigned>(std::countr_zero(differing));
      if (!open()) {
        begin_ = first + low;
      } else if (ends_before(first + low)) {
        return true;
      }
      if (const uint64_t gaps = gaps_in(differing, low); gaps != 0) {
        end_ = first + static_cast<unsigned>(std::countr_zero(gaps));
        return true;
      }
      end_ = first + static_cast<unsigned>(std::bit_width(differing));
    }
    return open() && ends_before(first + 64);
  }

 private:
  // The bits from `low` on at which gap_words_ equal words begin that all lie in these 64.
  [[nodiscard]] uint64_t gaps_in(uint64_t differing, unsigned low) const {
    if (gap_words_ >= 64) {
      return 0;
    }
    uint64_t starts = ~differing & (~uint64_t{0} << low);
    for (size_t length = 1; length < gap_words_;) {
      const size_t step = std::min(length, gap_words_ - length);
      starts &= starts >> step;
      length += step;
    }
    return starts;
  }

  [[nodiscard]] bool ends_before(size_t word) const { return word - end_ >= gap_words_; }

  size_t gap_words_;
  size_t begin_ = 0;
  size_t end_ = 0;
};

}  // namespace

bool next_diff_with(const diff_table& table, const unsigned char* a, const unsigned char* b,
                    size_t n, size_t from, size_t gap, size_t& begin, size_t& end) noexcept {
  if (from >= n) {
    return false;
  }
  range_builder range(gap);
  const size_t cut = from % 8;
  size_t at = from - cut;
  if (cut != 0) {
    // The word that `from` cuts counts with its later bytes only.
    const size_t bytes = n - from < 8 - cut ? n - from : 8 - cut;
    if (load_partial(a + from, bytes) != load_partial(b + from, bytes)) {
      range.open_at(at / 8);
    }
    at += 8;
  }
  for (; at < n; at += diff_block) {
    const size_t bytes = n - at < diff_block ? n - at : diff_block;
    if (range.take(table.differing(a + at, b + at, bytes), at / 8)) {
      break;
    }
  }
  if (!range.open()) {
    return false;
  }
  begin = range.begin() * 8 < from ? from : range.begin() * 8;
  end = n / 8 < range.end() ? n : range.end() * 8;
  return true;
}

namespace {

// A few whole words, too few for a gap: one range, or none.
bool diff_words(const unsigned char* a, const unsigned char* b, size_t n,
                diff_range& out) noexcept {
  size_t begin = 0, end = n;
  while (begin != n && load<uint64_t>(a + begin) == load<uint64_t>(b + begin)) begin += 8;
  if (begin == n) return false;
  while (load<uint64_t>(a + end - 8) == load<uint64_t>(b + end - 8)) end -= 8;
  out = {begin, end};
  return true;
}

}  // namespace

bool next_diff(const void* a, const void* b, size_t n, size_t from, size_t gap,
               diff_range& out) noexcept {
  if (from == 0 && n <= gap && n <= 64 && n % 8 == 0)
    return diff_words(static_cast<const unsigned char*>(a), static_cast<const unsigned char*>(b), n,
                      out);
  return next_diff_with(active.table(), static_cast<const unsigned char*>(a),
                        static_cast<const unsigned char*>(b), n, from, gap, out.begin, out.end);
}

std::vector<const diff_table*> diff_variants() {
  return runnable<diff_table>(tables);
}

}  // namespace scute::core::codec
