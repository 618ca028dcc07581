// SPDX-License-Identifier: BSD-3-Clause
// Segments: what was appended is read, whatever one page, one line or a crash takes away, and
// nothing else is.
#include "core/log/segment.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "codec/checksum/crc32c.hpp"
#include "core/log/segment_reader.hpp"
#include "core/log/segment_writer.hpp"

namespace scute::core::log {
namespace {

constexpr uint64_t segment_size = 72 * 1024, second = segment_size + 8192;

// A file that is a vector.
class plain_medium final : public medium::medium {
 public:
  explicit plain_medium(uint64_t size) : bytes(size) {
    base_ = bytes.data();
    size_ = size;
    kind_ = ::scute::core::medium::kind::simulated;
  }
  const char* flush_name() const noexcept override { return "none"; }
  std::vector<std::byte> bytes;

 protected:
  using writer = ::scute::core::medium::writer;
  void do_stream(writer&, void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_flush(writer&, const void*, size_t) noexcept override {}
  void do_store(void* dst, const void* src, size_t n) noexcept override {
    std::memcpy(dst, src, n);
  }
  void do_fence(writer&) noexcept override {}
};

struct read_frame {
  format::frame_head head;
  uint64_t position;
  std::vector<std::byte> body;
  bool flawed, behind_gap;
  bool operator==(const read_frame& o) const {
    return std::memcmp(&head, &o.head, sizeof head) == 0 && position == o.position &&
           body == o.body;
  }
};

class Segment : public ::testing::TestWithParam<redundancy> {
 protected:
  static constexpr identity whose{0x1234567890abcdef, 7, 3};

  std::vector<std::byte> some_bytes(size_t n) {
    std::vector<std::byte> b(n);
    for (std::byte& x : b) x = static_cast<std::byte>(random());
    return b;
  }

  void append(std::span<const std::byte> body) {
    ++sequence;
    segment_writer::start(image);
    if (!body.empty()) std::memcpy(image.extend(body.size()), body.data(), body.size());
    const uint64_t position = out.append(w, image, 5, sequence, sequence + 100);
    format::frame_head h;
    std::memcpy(&h, image.data(), sizeof h);
    written.push_back({h, position, {body.begin(), body.end()}, false, false});
  }

  // Frames of many sizes until hardly anything fits.
  void fill() {
    for (size_t n = 0; out.room() >= 2 * sizeof(format::frame_head); n = n * 9 / 8 + 7)
      append(some_bytes(std::min<size_t>(n % 3000, out.room() - sizeof(format::frame_head))));
  }

  segment_reader reader(uint64_t salt = whose.salt) {
    return {layout, salt, [this](uint64_t offset, std::byte* to, size_t n) {
              for (const uint64_t p : lost)
                if (offset < p + segment_page && p < offset + n) return false;
              std::memcpy(to, m.bytes.data() + offset, n);
              return true;
            }};
  }

  std::vector<read_frame> read() {
    std::vector<read_frame> all;
    contents = reader().read(s, [&](const frame& f) {
      all.push_back(
          {f.head, f.position, {f.body().begin(), f.body().end()}, f.flawed, f.behind_gap});
    });
    EXPECT_EQ(contents.frames, all.size());
    return all;
  }

  bool protects() const { return GetParam() != redundancy::one_copy; }
  bool is_of(uint64_t offset) const {  // the segment
    return offset < segment_size || (layout.copies() == 2 && offset - second < segment_size);
  }

  std::mt19937_64 random{20261123};
  plain_medium m{second + segment_size};
  medium::writer w{m};
  segment_layout layout{GetParam(), segment_size};
  segment s{{0, second}};
  segment_writer out{m.bytes.data(), layout, whose};
  byte_buffer image;
  uint64_t sequence = 0;
  std::vector<read_frame> written;
  std::set<uint64_t> lost;
  segment_contents contents;
};

INSTANTIATE_TEST_SUITE_P(, Segment,
                         ::testing::Values(redundancy::one_copy, redundancy::two_copies,
                                           redundancy::tracks),
                         [](const auto& p) {
                           return std::string(p.param == redundancy::one_copy     ? "OneCopy"
                                              : p.param == redundancy::two_copies ? "TwoCopies"
                                                                                  : "Tracks");
                         });

TEST_P(Segment, IsReadAsItWasWritten) {
  EXPECT_EQ(out.room(), 0u);
  out.begin(w, s, 9, 42);
  EXPECT_EQ(out.room(), layout.frame_max());
  EXPECT_TRUE(read().empty());
  ASSERT_TRUE(contents.head);
  EXPECT_EQ(contents.head->epoch, whose.epoch);
  EXPECT_EQ(contents.head->lane, whose.lane);
  EXPECT_EQ(contents.head->generation, 9u);
  EXPECT_EQ(contents.head->truncation_point, 42u);
  fill();
  EXPECT_GT(written.size(), 30u);
  EXPECT_EQ(read(), written);
  EXPECT_FALSE(contents.head_flawed);
  EXPECT_EQ(contents.flawed, 0u);
  EXPECT_EQ(contents.gaps, 0u);
  EXPECT_EQ(contents.end * line_size, layout.lines() * line_size - out.room());
}

TEST_P(Segment, TakesAFrameAsLargeAsItself) {
  out.begin(w, s, 1, 0);
  append(some_bytes(layout.frame_max() - sizeof(format::frame_head)));
  EXPECT_EQ(out.room(), 0u);
  EXPECT_EQ(read(), written);
}

// SEG-4, for each page in turn; and a page that is rebuilt is as it was.
TEST_P(Segment, OutlivesAnyLostPage) {
  out.begin(w, s, 1, 0);
  fill();
  for (uint64_t p = 0; p < m.bytes.size(); p += segment_page) {
    if (!is_of(p)) continue;
    lost = {p};
    const auto found = read();
    if (!protects()) {
      EXPECT_LT(found.size(), written.size());
      for (const auto& f : found) EXPECT_NE(std::ranges::find(written, f), written.end());
      continue;
    }
    EXPECT_EQ(found, written) << p;
    EXPECT_EQ(contents.gaps, 0u);
    std::vector<std::byte> page(segment_page);
    const uint32_t copy = p >= second ? 1 : 0;
    const segment_contents c =
        reader().rebuild(s, copy, p - s.at[copy], std::span<std::byte, segment_page>(page));
    EXPECT_EQ(c.end, contents.end);
    EXPECT_TRUE(std::ranges::equal(page, std::span(m.bytes).subspan(p, segment_page))) << p;
  }
}

// SEG-5: two lost pages cost only the frames that lay in both.
TEST_P(Segment, SaysWhatTwoLostPagesTake) {
  out.begin(w, s, 1, 0);
  fill();
  uint64_t gaps = 0;
  for (int i = 0; i < 200; ++i) {
    lost = {random() % (m.bytes.size() / segment_page) * segment_page,
            random() % (m.bytes.size() / segment_page) * segment_page};
    const auto found = read();
    for (const auto& f : found) EXPECT_NE(std::ranges::find(written, f), written.end());
    if (contents.head) {
      const bool all = found.size() == written.size();
      const bool end_lost = !all && (found.empty() || !(found.back() == written.back()));
      EXPECT_TRUE(all || end_lost || contents.gaps != 0);
    }
    gaps += contents.gaps;
  }
  if (protects()) {
    EXPECT_GT(gaps, 0u);
  }
}

// Each line in turn. Lines that are stored again are as they were.
TEST_P(Segment, OutlivesAnyDamagedLine) {
  out.begin(w, s, 1, 0);
  fill();
  const std::vector<std::byte> good = m.bytes;
  uint64_t missed = 0, frames_lost = 0;
  for (uint64_t at = 0; at < m.bytes.size(); at += line_size) {
    if (!is_of(at)) continue;
    const std::vector<std::byte> noise = some_bytes(line_size);
    const uint64_t part = random() % line_size;  // from there on
    std::copy(noise.begin() + static_cast<ptrdiff_t>(part), noise.end(),
              m.bytes.begin() + static_cast<ptrdiff_t>(at + part));
    const auto found = read();
    if (protects()) {
      EXPECT_EQ(found, written) << at;
      missed += !contents.head_flawed && contents.flawed == 0 ? 1 : 0;
      if (contents.head)
        store_lines(w, m.bytes.data(), layout, s, 0, std::as_bytes(std::span(&*contents.head, 1)));
      reader().read(s, [&](const frame& f) {
        const std::vector<std::byte> lines(f.lines.begin(), f.lines.end());
        store_lines(w, m.bytes.data(), layout, s, f.position, lines);
      });
      read();
      EXPECT_EQ(contents.flawed, 0u);
      EXPECT_FALSE(contents.head_flawed);
    } else if (at != 0) {
      EXPECT_GE(found.size() + 1, written.size());
      frames_lost += written.size() - found.size();
      EXPECT_EQ(contents.gaps, !found.empty() && found.back() == written.back()
                                   ? written.size() - found.size()
                                   : 0);
    }
    m.bytes = good;
  }
  // Lines that belong to nothing: after short rows, after the last frame, between tracks and the
  // end.
  const uint64_t lines = layout.copies() * segment_size / line_size;
  EXPECT_LT(missed, lines / 2);
  if (!protects()) {
    EXPECT_GT(frames_lost, lines / 2);
  }
}

// SEG-1, SEG-2
TEST_P(Segment, BytesOfAnotherUseAreNoFrame) {
  out.begin(w, s, 1, 0);
  fill();
  const std::vector<read_frame> before = std::move(written);
  written.clear();
  out.begin(w, s, 2, 0);
  EXPECT_TRUE(read().empty());
  for (int i = 0; i < 5; ++i) append(some_bytes(200));
  EXPECT_EQ(read(), written);
  EXPECT_EQ(contents.gaps, 0u);

  for (int which = 0; which < 3; ++which) {
    identity other = whose;
    if (which == 0) ++other.salt;
    if (which == 1) ++other.epoch;
    if (which == 2) ++other.lane;
    written.clear();
    segment_writer another(m.bytes.data(), layout, other);
    another.begin(w, s, 2, 0);
    contents = reader(other.salt).read(s, [](const frame&) { FAIL(); });
    EXPECT_TRUE(contents.head);
    if (which == 0) {
      read();
      EXPECT_FALSE(contents.head);
    }
    out.begin(w, s, 2, 0);
    for (int i = 0; i < 5; ++i) append(some_bytes(200));
    EXPECT_EQ(read(), written);
  }
}

TEST_P(Segment, AFrameInAnotherPlaceIsNone) {
  out.begin(w, s, 1, 0);
  for (int i = 0; i < 6; ++i) append(some_bytes(300));
  std::vector<std::byte> lines;
  reader().read(s, [&](const frame& f) {
    if (f.head.sequence == 2) lines.assign(f.lines.begin(), f.lines.end());
  });
  const uint64_t end = written.back().position + layout.lines_of(332);
  store_lines(w, m.bytes.data(), layout, s, end, lines);
  EXPECT_EQ(read(), written);
}

// A power failure may leave any 8 aligned bytes of the last frame out. The reader finds all of the
// frame or none of it.
TEST_P(Segment, ATornFrameIsThereOrNot) {
  out.begin(w, s, 1, 0);
  for (int i = 0; i < 4; ++i) append(some_bytes(100 + i));
  for (const size_t n : {8, 20, 90, 400, 1000}) {
    const std::vector<std::byte> before = m.bytes;
    const std::vector<read_frame> committed = written;
    append(some_bytes(n));
    const std::vector<std::byte> after = m.bytes;
    std::vector<uint64_t> words;
    for (uint64_t i = 0; i < after.size(); i += 8)
      if (std::memcmp(&before[i], &after[i], 8) != 0) words.push_back(i);
    uint64_t there = 0;
    for (int i = 0; i < 400; ++i) {
      m.bytes = after;
      const uint64_t missing = i % 2 == 0 ? 1 + random() % 3 : random() % words.size();
      for (uint64_t k = 0; k < missing; ++k) {
        const uint64_t at = words[random() % words.size()];
        std::memcpy(&m.bytes[at], &before[at], 8);
      }
      const auto found = read();
      EXPECT_TRUE(found == written || found == committed);
      EXPECT_EQ(contents.gaps, 0u);
      there += found == written ? 1 : 0;
    }
    if (protects()) {
      EXPECT_GT(there, 0u);
    }
    EXPECT_LT(there, 400u);
    m.bytes = after;
  }
}

// SEG-1: a power failure may leave the head's bytes whole in the first line and not in the XOR, and
// the body's bytes whole in the XOR and not in the first line. The frame that is read then can be
// stored again, and is complete.
TEST_P(Segment, ATornFrameThatIsReadCanBeStoredAgain) {
  out.begin(w, s, 1, 0);
  append(some_bytes(200));
  for (const size_t n : {8, 20, 90, 400, 1000}) {
    append(some_bytes(n));
    const uint64_t position = written.back().position;
    const uint64_t first = layout.offset_of(position);
    const uint64_t other = layout.copies() == 2                   ? second + first
                           : layout.how() == redundancy::one_copy ? first
                                                                  : layout.sum_offset_of(position);
    // The segment was empty: zeros are what was there before.
    for (uint64_t word = 0; word < sizeof(format::frame_head); word += 8) {
      std::vector<std::byte> whole = m.bytes;
      if (protects()) {
        std::memset(&m.bytes[other + word], 0, 8);
        std::memset(&m.bytes[first + sizeof(format::frame_head)], 0, 8);
      }
      std::vector<std::pair<uint64_t, std::vector<std::byte>>> found;
      reader().read(s, [&](const frame& f) {
        format::frame_head in_lines;
        std::memcpy(&in_lines, f.lines.data(), sizeof in_lines);
        EXPECT_EQ(std::memcmp(&in_lines, &f.head, sizeof in_lines), 0) << n << " " << word;
        found.push_back({f.position, {f.lines.begin(), f.lines.end()}});
      });
      // Of two copies neither is whole.
      EXPECT_EQ(found.size(), written.size() - (layout.copies() == 2 ? 1 : 0));
      for (const auto& [at, lines] : found) store_lines(w, m.bytes.data(), layout, s, at, lines);
      if (layout.copies() != 2) {
        EXPECT_EQ(read(), written) << n << " " << word;
        EXPECT_EQ(contents.flawed, 0u);
      }
      std::ranges::copy(whole, m.bytes.begin());  // the writer keeps the address
    }
  }
}

TEST_P(Segment, AnythingCanBeRead) {
  out.begin(w, s, 1, 0);
  fill();
  const std::vector<std::byte> good = m.bytes;
  for (int i = 0; i < 300; ++i) {
    m.bytes = good;
    const uint64_t blows = 1 + random() % 400;
    for (uint64_t k = 0; k < blows; ++k) {
      const uint64_t at = random() % (m.bytes.size() - 64), n = random() % 64;
      const auto noise = some_bytes(n);
      std::ranges::copy(noise, m.bytes.begin() + static_cast<ptrdiff_t>(at));
    }
    for (const auto& f : read()) EXPECT_NE(std::ranges::find(written, f), written.end());
  }
}

// SEG-6: a head at every line, each of which claims all that follows. Summing up what they claim
//        would take a day.
TEST_P(Segment, ReadingIsBounded) {
  const uint64_t size = uint64_t{64} << 20;
  plain_medium large(2 * size);
  medium::writer to(large);
  const segment_layout l(GetParam(), size);
  segment_writer first(large.bytes.data(), l, whose);
  const segment at{{0, size}};
  first.begin(to, at, 1, 0);
  format::segment_head h;
  std::memcpy(&h, large.bytes.data(), sizeof h);
  for (uint64_t p = l.step(); p < l.lines(); p += l.step()) {
    std::byte line[line_size]{};
    format::frame_head f{};
    f.size = static_cast<uint32_t>((l.lines() - p) * line_size);
    f.checksum = frame_head_checksum(seed_of(h), p, f);
    std::memcpy(line, &f, sizeof f);
    for (uint32_t c = 0; c < l.copies(); ++c)
      std::memcpy(large.bytes.data() + at.at[c] + l.offset_of(p), line, line_size);
  }
  segment_reader r(l, whose.salt, [&](uint64_t offset, std::byte* b, size_t n) {
    std::memcpy(b, large.bytes.data() + offset, n);
    return true;
  });
  const segment_contents c = r.read(at, [](const frame&) { FAIL(); });
  EXPECT_TRUE(c.head);
  EXPECT_EQ(c.frames, 0u);
}

}  // namespace
}  // namespace scute::core::log
