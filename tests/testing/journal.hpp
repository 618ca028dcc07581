// SPDX-License-Identifier: BSD-3-Clause
// A tiny structure that is no pool, as a subject of the explorer: a row of numbers, changed as a
// whole by a redo journal, and kept twice. With mistakes to choose from.
#pragma once

#include <scute/exploration.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace scute::testing {

enum class mistake {
  none,
  no_fence,           // the record may become durable after the change that it protects
  no_flush,           // it is not written back
  no_last_fence,      // set() returns before the row is durable, with the record void already
  no_checksum,        // a torn record is replayed
  no_refresh,         // the recovery rests on a record that may not be durable
  no_recovery_fence,  // the recovery voids the record before the row is durable
  no_repair,          // no copy is repaired
};

class journal : public subject {
 public:
  using row = std::array<uint64_t, 13>;

  explicit journal(mistake m = mistake::none, bool twice = true) : mistake_(m), twice_(twice) {}

  // Full: the first number has ten values.
  struct full : std::runtime_error {
    using std::runtime_error::runtime_error;
  };

  void set(const row& numbers) {
    if (numbers[0] > 9) throw full("no room for more than 9");
    const uint64_t sequence = newest().sequence + 1;
    const record r{numbers, sequence, checksum_of(numbers, sequence)};
    put(all().journal, r, mistake_ != mistake::no_flush);
    if (mistake_ != mistake::no_fence) out_->fence();
    apply(r, mistake_ != mistake::no_last_fence);
  }

  // As text, or an error if there is none.
  std::string text() const {
    std::string t;
    for (const uint64_t n : newest().numbers) t += std::to_string(n) + " ";
    return t;
  }

  // ---- subject ----------------------------------------------------------------------------------

  uint64_t size() const override { return sizeof(file); }

  void create(memory& m, uint64_t) override {
    attach(m);
    const record r{{}, 1, checksum_of({}, 1)};
    apply(r, true);
    uint64_t number = magic;
    put(all().magic, number, true);
    out_->fence();
  }

  void open(memory& m) override {
    attach(m);
    replayed_ = false;
    if (all().magic != magic) {
      abandon();
      throw std::runtime_error("there is no journal here");
    }
    const record r = all().journal;
    if (r.sequence != 0 && (valid(r) || mistake_ == mistake::no_checksum)) {
      // A process that died may have left it in the caches only.
      if (mistake_ != mistake::no_refresh) {
        out_->flush(&all().journal, sizeof(record));
        out_->fence();
      }
      apply({r.numbers, r.sequence, checksum_of(r.numbers, r.sequence)},
            mistake_ != mistake::no_recovery_fence);
      replayed_ = true;
    }
    check(true);
  }

  findings check(bool repair) override {
    findings found;
    for (size_t i = 0; i < copies(); ++i) {
      if (valid(all().copies[i].now)) continue;
      found.add("copy " + std::to_string(i) + " does not match its checksum");
      if (copies() == 1 || !valid(all().copies[1 - i].now)) {
        ++found.lost;
      } else if (repair && mistake_ != mistake::no_repair) {
        const record good = all().copies[1 - i].now;
        put(all().copies[i].now, good, true);
        out_->fence();
      }
    }
    return found;
  }

  void probe() override {
    const row before = newest().numbers;
    row other{};
    other[12] = 1;
    set(other);
    set(before);
  }

  void close() override { abandon(); }
  void abandon() noexcept override {
    out_.reset();
    at_ = nullptr;
  }

  std::string noun() const override { return "journal"; }
  std::string place(std::span<const std::byte>, uint64_t offset) const override {
    static constexpr const char* names[] = {"record", "copy 0", "copy 1", "magic"};
    return names[offset / 4096] + (" +" + std::to_string(offset % 4096));
  }
  std::string recovered() override { return replayed_ ? "the record was replayed" : ""; }
  bool ran_full(const std::exception& e) const noexcept override {
    return dynamic_cast<const full*>(&e) != nullptr;
  }
  bool takes_faults() const noexcept override { return twice_; }
  injury injure(fault_moment, std::span<const std::byte> image, uint64_t number) const override {
    const uint64_t which = number % 2;
    uint64_t there = 0;
    std::memcpy(&there, image.data() + offsetof(file, magic), sizeof there);
    if (!twice_ || there != magic) return {};
    return {offsetof(file, copies) + which * 4096 + number / 2 % 13 * 8,
            std::vector<std::byte>(8, std::byte{0xee}),
            "a number of copy " + std::to_string(which)};
  }

 private:
  struct record {
    row numbers;
    uint64_t sequence, checksum;
  };
  struct alignas(4096) copy {
    record now;
  };
  struct file {
    record journal;
    copy copies[2];
    alignas(4096) uint64_t magic;
  };
  static constexpr uint64_t magic = 0x6a6f75726e616c;

  static uint64_t checksum_of(const row& numbers, uint64_t sequence) {
    uint64_t sum = sequence * 0x9e3779b97f4a7c15u + 1;
    for (const uint64_t n : numbers) sum = (sum ^ n) * 0x9e3779b97f4a7c15u + (sum >> 29);
    return sum;
  }
  static bool valid(const record& r) { return r.checksum == checksum_of(r.numbers, r.sequence); }

  void attach(memory& m) {
    at_ = reinterpret_cast<file*>(m.bytes().data());
    out_.emplace(m);
  }
  file& all() const { return *at_; }
  size_t copies() const { return twice_ ? 2 : 1; }
  const record& newest() const {
    for (size_t i = 0; i < copies(); ++i)
      if (valid(all().copies[i].now)) return all().copies[i].now;
    throw std::runtime_error("no copy matches its checksum");
  }

  template <typename T>
  void put(T& to, const T& from, bool flush) {
    out_->store(&to, &from, sizeof to);
    if (flush) out_->flush(&to, sizeof to);
  }
  // Writes the row, and then voids the record.
  void apply(const record& r, bool fence) {
    for (size_t i = 0; i < copies(); ++i) put(all().copies[i].now, r, true);
    if (fence) out_->fence();
    const uint64_t none = 0;
    put(all().journal.sequence, none, true);
    if (fence || mistake_ == mistake::no_recovery_fence) out_->fence();
  }

  const mistake mistake_;
  const bool twice_;
  file* at_ = nullptr;
  std::optional<writer> out_;
  bool replayed_ = false;
};

}  // namespace scute::testing
