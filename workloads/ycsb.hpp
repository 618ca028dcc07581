// SPDX-License-Identifier: BSD-3-Clause
// The core workloads of YCSB (Cooper et al., SoCC 2010): which operation comes next, on which
// record.
//
//   A  half reads, half updates          D  19 of 20 read the latest records, one inserts
//   B  19 of 20 read, one updates        E  19 of 20 scan up to 100 records, one inserts
//   C  reads                             F  half reads, half read-modify-writes
//
// Records are numbered as they are inserted; key_of() spreads the numbers over all keys.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace scute::workloads::ycsb {

enum class kind : uint8_t { read, update, insert, scan, modify };
enum class distribution : uint8_t { zipfian, uniform };

constexpr double theta = 0.99;
constexpr uint64_t scan_max = 100;

// FNV-1a over the eight bytes, lowest first: what YCSB scrambles record numbers with.
constexpr uint64_t key_of(uint64_t record) noexcept {
  uint64_t hash = 0xcbf29ce484222325u;
  for (int i = 0; i < 8; ++i, record >>= 8) hash = (hash ^ (record & 0xff)) * 0x100000001b3u;
  return hash;
}

// Ranks 0 .. n-1 with probabilities as 1 / (rank + 1)^theta, in constant time: Gray et al.,
// "Quickly generating billion-record synthetic databases", SIGMOD 1994, section 4.1. Ranks 0 and 1
// are exact, the others follow the integral of the density.
class zipfian {
 public:
  explicit zipfian(uint64_t n) : n_(n) {
    if (n == 0) throw std::invalid_argument("a zipfian distribution of nothing");
    for (uint64_t i = 1; i <= n; ++i) zeta_ += std::pow(1.0 / static_cast<double>(i), theta);
    const double zeta2 = 1 + std::pow(0.5, theta);
    eta_ = (1 - std::pow(2.0 / static_cast<double>(n), 1 - theta)) / (1 - zeta2 / zeta_);
  }

  double probability(uint64_t rank) const {
    return std::pow(1.0 / static_cast<double>(rank + 1), theta) / zeta_;
  }
  // u: uniform in [0, 1).
  uint64_t rank(double u) const {
    const double uz = u * zeta_;
    if (uz < 1) return 0;
    if (n_ > 1 && uz < 1 + std::pow(0.5, theta)) return 1;
    const double at = static_cast<double>(n_) * std::pow(eta_ * u - eta_ + 1, 1 / (1 - theta));
    return std::min(static_cast<uint64_t>(at), n_ - 1);
  }

 private:
  uint64_t n_;
  double zeta_ = 0, eta_ = 0;
};

struct operation {
  kind what;
  uint8_t records;  // of a scan; else 1
  uint64_t record;
};

// The records that a generator may ask for: numbers 0 .. common-1, which are there when it starts,
// and those that it inserts itself, from next on.
struct record_space {
  uint64_t common, next;
};

// The operations of one thread. Another thread's records of the same batch are never asked for, so
// that every operation finds what it is about, however the threads run. Random: next() -> 64 random
// bits.
template <class Random>
class generator {
 public:
  // mix: 'a' to 'f'. The distribution says how records are chosen; with zipfian, D favours the
  // latest and the others the same few, scattered over all. `popular` is zipfian over at most
  // space.common ranks.
  generator(char mix, distribution how, const zipfian& popular, record_space space, Random& random)
      : mix_(mix), how_(how), popular_(popular), space_(space), random_(random) {
    if (mix < 'a' || mix > 'f') throw std::invalid_argument("YCSB has the workloads a to f");
  }

  // How many records it has inserted.
  uint64_t inserted() const noexcept { return inserted_; }

  operation next() {
    const double p = fraction();
    switch (mix_) {
      case 'a': return {p < 0.5 ? kind::read : kind::update, 1, choose()};
      case 'b': return {p < 0.95 ? kind::read : kind::update, 1, choose()};
      case 'c': return {kind::read, 1, choose()};
      case 'd': return p < 0.95 ? operation{kind::read, 1, choose()} : insert();
      case 'e': return p < 0.95 ? scan() : insert();
      default: return {p < 0.5 ? kind::read : kind::modify, 1, choose()};
    }
  }

 private:
  double fraction() { return static_cast<double>(random_.next() >> 11) * 0x1p-53; }

  operation insert() { return {kind::insert, 1, space_.next + inserted_++}; }
  // Of records with successive numbers. It stays among those that were there from the start.
  operation scan() {
    const uint64_t most = std::min(scan_max, space_.common);
    const uint64_t n = 1 + random_.next() % most;
    return {kind::scan, static_cast<uint8_t>(n), std::min(choose_common(), space_.common - n)};
  }
  uint64_t choose() {
    if (mix_ != 'd') return choose_common();
    // Age 0 is the youngest: this thread's own first, then the common ones.
    const uint64_t all = inserted_ + space_.common;
    const uint64_t age =
        how_ == distribution::zipfian ? popular_.rank(fraction()) : random_.next() % all;
    if (age < inserted_) return space_.next + inserted_ - 1 - age;
    return space_.common - 1 - (age - inserted_);
  }
  uint64_t choose_common() {
    if (how_ == distribution::uniform) return random_.next() % space_.common;
    return key_of(popular_.rank(fraction())) % space_.common;
  }

  char mix_;
  distribution how_;
  const zipfian& popular_;
  record_space space_;
  Random& random_;
  uint64_t inserted_ = 0;
};

template <class Random>
std::vector<operation> batch(generator<Random>& from, size_t n) {
  std::vector<operation> all;
  all.reserve(n);
  for (size_t i = 0; i < n; ++i) all.push_back(from.next());
  return all;
}

}  // namespace scute::workloads::ycsb
