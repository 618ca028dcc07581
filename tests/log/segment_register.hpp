// SPDX-License-Identifier: BSD-3-Clause
// The smallest thing that is kept in segments, as a subject of the explorer: one number, of which
// every frame has the whole. Two segments take turns. With mistakes to choose from, each against
// one rule of core/log/segment.hpp.
#pragma once

#include <scute/exploration.hpp>

#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/log/segment_reader.hpp"
#include "core/log/segment_writer.hpp"

namespace scute::testing {

using core::log::frame;
using core::log::redundancy;
using core::log::segment;
using core::log::segment_contents;
using core::log::segment_layout;
using core::log::segment_reader;
using core::log::segment_writer;
namespace medium = core::medium;

// A medium on the explorer's memory, with one writer.
class memory_medium final : public medium::medium {
 public:
  explicit memory_medium(const memory& m) : out_(m) {
    base_ = m.bytes().data();
    size_ = m.bytes().size();
    kind_ = core::medium::kind::simulated;
    eadr_ = m.eadr();
  }
  const char* flush_name() const noexcept override { return "simulated"; }

 protected:
  using any_writer = core::medium::writer;
  void do_stream(any_writer&, void* dst, const void* src, size_t n) noexcept override {
    out_.stream(dst, src, n);
  }
  void do_flush(any_writer&, const void* p, size_t n) noexcept override { out_.flush(p, n); }
  void do_store(void* dst, const void* src, size_t n) noexcept override { out_.store(dst, src, n); }
  void do_fence(any_writer&) noexcept override { out_.fence(); }

 private:
  scute::testing::writer out_;
};

enum class mistake {
  none,
  no_fence,  // set() returns before the frame is durable
  // after a crash the last segment is appended to, after a possibly torn frame (SEG-3)
  goes_on,
  not_again,     // frames that recovery has found are not stored again before others rest on them
  one_session,   // every session has the same epoch and counts generations from the start (SEG-2)
  over_the_new,  // the segment that is begun is the one that holds the newest frame
};

class segment_register : public subject {
 public:
  explicit segment_register(redundancy how, mistake m = mistake::none) : how_(how), mistake_(m) {}

  // As many numbers as that fit a segment; a frame of several lines.
  static constexpr uint64_t filler = 200;

  void set(uint64_t number) {
    segment_writer::start(image_);
    if (out_->room() < sizeof(core::format::frame_head) + 8 + filler) turn();
    std::memcpy(image_.extend(8), &number, 8);
    std::memset(image_.extend(filler), static_cast<int>(number), filler);
    out_->append(*w_, image_, 0, sequence_ + 1, 0);
    if (mistake_ != mistake::no_fence) w_->fence(core::fence_site::test);
    ++sequence_;
    number_ = number;
  }
  uint64_t number() const { return number_; }
  // As if it were full.
  void fill() { out_->end(); }

  // ---- subject ----------------------------------------------------------------------------------

  uint64_t size() const override { return first + 4 * segment_size; }

  void create(memory& m, uint64_t) override {
    attach(m);
    uint64_t words[8] = {magic, 1};
    for (uint64_t at = 0; at < first; at += core::log::segment_page)
      w_->stream(base_ + at, words, sizeof words, medium::purpose::metadata);
    w_->fence(core::fence_site::test);
    start(1, 0);
    set(0);
  }

  void open(memory& m) override {
    attach(m);
    const uint64_t epoch = word(8);
    if (word(0) != magic) {
      abandon();
      throw std::runtime_error("there is no register here");
    }
    std::optional<frame> newest;
    std::vector<std::byte> lines;
    size_t in = 0;
    for (size_t i = 0; i < 2; ++i) {
      const segment_contents c = reader_->read(places_[i], [&](const frame& f) {
        if (newest && f.head.sequence <= newest->head.sequence) return;
        newest = f;
        lines.assign(f.lines.begin(), f.lines.end());
        in = i;
      });
      if (c.head) generations_[i] = c.head->generation;
    }
    if (!newest) {
      // Nothing was acknowledged yet.
      if (epoch == 1) return start(1, 0), set(0);
      abandon();
      throw std::runtime_error("no number is left");
    }
    number_ = 0;
    std::memcpy(&number_, lines.data() + sizeof newest->head, 8);
    sequence_ = newest->head.sequence;
    current_ = in;
    const auto head = *reader_->read(places_[in], [](const frame&) {}).head;
    // A frame that recovery accepts is durable in all copies before anything rests on it.
    if (mistake_ != mistake::not_again) {
      store_lines(*w_, base_, layout_, places_[in], 0, std::as_bytes(std::span(&head, 1)));
      store_lines(*w_, base_, layout_, places_[in], newest->position, lines);
      w_->fence(core::fence_site::test);
    }
    // The session's number is durable before a segment bears it.
    const uint64_t now = mistake_ == mistake::one_session ? epoch : epoch + 1;
    for (uint64_t at = 0; at < first; at += core::log::segment_page)
      w_->stream(base_ + at + 8, &now, 8, medium::purpose::metadata);
    w_->fence(core::fence_site::test);
    start(now, mistake_ == mistake::over_the_new ? in : 1 - in);
    set(number_);
  }

  findings check(bool repair) override {
    findings found;
    for (size_t i = 0; i < 2; ++i) {
      std::vector<std::pair<uint64_t, std::vector<std::byte>>> bad;
      const segment_contents c = reader_->read(places_[i], [&](const frame& f) {
        if (f.flawed) bad.push_back({f.position, {f.lines.begin(), f.lines.end()}});
        // Of the segment in use all frames are there: one is fenced before the next is written.
        if (f.behind_gap && i == current_) {
          found.add("a frame of segment " + std::to_string(i) + " is gone");
          if (number_ == f.head.sequence) ++found.lost;
        }
      });
      if (i != current_) continue;  // void
      if (!c.head) {
        found.add("segment " + std::to_string(i) + " has no head");
        ++found.lost;
        continue;
      }
      if (c.head_flawed) found.add("a head of segment " + std::to_string(i) + " is damaged");
      for (const auto& b : bad) found.add("frame at line " + std::to_string(b.first));
      if (!repair) continue;
      store_lines(*w_, base_, layout_, places_[i], 0, std::as_bytes(std::span(&*c.head, 1)));
      for (const auto& b : bad) store_lines(*w_, base_, layout_, places_[i], b.first, b.second);
      w_->fence(core::fence_site::test);
    }
    return found;
  }

  void probe() override {
    const uint64_t before = number_;
    set(77);
    set(before);
  }

  void close() override { abandon(); }
  void abandon() noexcept override {
    reader_.reset();
    out_.reset();
    w_.reset();
    m_.reset();
  }

  std::string noun() const override { return "register"; }
  std::string place(std::span<const std::byte>, uint64_t offset) const override {
    if (offset < first) return "words +" + std::to_string(offset);
    offset -= first;
    return "segment " + std::to_string(offset / segment_size / 2) + " copy " +
           std::to_string(offset / segment_size % 2) + " +" + std::to_string(offset % segment_size);
  }
  std::string recovered() override { return {}; }
  bool ran_full(const std::exception&) const noexcept override { return false; }
  bool takes_faults() const noexcept override { return how_ != redundancy::one_copy; }
  injury injure(fault_moment, std::span<const std::byte>, uint64_t number) const override {
    const uint64_t copies = layout_.copies();
    const uint64_t segments = number % 2, copy = number / 2 % copies;
    const uint64_t line = number / 4 % (segment_size / 64);
    return {places_[segments].at[copy] + line * 64, std::vector<std::byte>(64, std::byte{0xee}),
            "line " + std::to_string(line) + " of segment " + std::to_string(segments)};
  }

 private:
  static constexpr uint64_t magic = 0x5e97e9, first = 4096, segment_size = 9 * 4096;
  static constexpr uint64_t salt = 0xabcdef;

  uint64_t word(uint64_t at) const {
    uint64_t x = 0;
    std::memcpy(&x, base_ + at, sizeof x);
    return x;
  }

  void attach(memory& m) {
    m_ = std::make_unique<memory_medium>(m);
    w_ = std::make_unique<medium::writer>(*m_);
    base_ = m.bytes().data();
    reader_ = std::make_unique<segment_reader>(layout_, salt,
                                               [this](uint64_t offset, std::byte* to, size_t n) {
                                                 std::memcpy(to, base_ + offset, n);
                                                 return true;
                                               });
    generations_[0] = generations_[1] = sequence_ = 0;
  }
  void start(uint64_t epoch, size_t in) {
    out_ = std::make_unique<segment_writer>(base_, layout_, core::log::identity{salt, epoch, 0});
    if (mistake_ == mistake::one_session) generations_[0] = generations_[1] = 0;
    if (mistake_ == mistake::goes_on && sequence_ != 0) in = current_;
    current_ = 1 - in;
    turn();
  }
  void turn() {
    current_ = 1 - current_;
    ++generations_[current_];
    out_->begin(*w_, places_[current_], generations_[current_], 0);
  }

  redundancy how_;
  mistake mistake_;
  segment_layout layout_{how_, segment_size};
  segment places_[2] = {{{first, first + segment_size}},
                        {{first + 2 * segment_size, first + 3 * segment_size}}};
  std::byte* base_ = nullptr;
  std::unique_ptr<memory_medium> m_;
  std::unique_ptr<medium::writer> w_;
  std::unique_ptr<segment_reader> reader_;
  std::unique_ptr<segment_writer> out_;
  core::byte_buffer image_;
  uint64_t generations_[2] = {0, 0};
  size_t current_ = 0;
  uint64_t number_ = 0, sequence_ = 0;
};

}  // namespace scute::testing
