// SPDX-License-Identifier: BSD-3-Clause
// The floors under Scute's engines: what each of them has to load, store, write back and fence for
// one object, with no library around it. Nothing is found, verified, locked or recovered.
//
//   raw-logfree  copy the object; data and delta in one pass, written back; fence; parity, whose
//                write-back is begun by the next transaction, before its fence
//   raw-log      copy; one entry to a sequential log; fence; the data in place, not written back
//                (what an engine of speculative logging does)
//   raw-redo     copy; the entry to two replicas of a log; fence; data and parity in place, written
//                back; fence
//
// An object has a header of 32 bytes; a hundred rows share one of parity, as in a pool. Each thread
// has a row of parity of its own, since nothing here keeps threads apart.
#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "codec/parity/parity.hpp"
#include "core/medium/fused.hpp"
#include "core/medium/persist.hpp"
#include "systems/mapped_file.hpp"
#include "systems/object_system.hpp"

namespace scute::bench {
using namespace core;
namespace {

enum class floor_of { logfree, log, redo };

constexpr uint64_t header = 32, rows = 100, log_size = uint64_t{1} << 20, logs = 64;
constexpr unsigned threads_max = 8;

// The first threads have 0, 1, and so on.
unsigned number_of_this_thread() noexcept {
  static std::atomic<unsigned> next{0};
  thread_local const unsigned mine = next.fetch_add(1);
  return mine;
}

class raw_objects final : public object_system {
 public:
  raw_objects(floor_of what, const population& p, bool cpu)
      : what_(what),
        length_(header + p.size),
        stride_((length_ + 31) & ~uint64_t{31}),
        row_((p.slots * stride_ / rows + stride_ + 4095) & ~uint64_t{4095}),
        parity_(round(p.slots * stride_)),
        parity_size_(round(row_ + stride_)),
        log_(parity_ + threads_max * parity_size_),
        cpu_(cpu),
        file_(p.path, log_ + 2 * logs * log_size) {}

  void alloc(std::span<const uint32_t> slots, content c) override { write(slots, c); }
  void overwrite(std::span<const uint32_t> slots, content c) override { write(slots, c); }
  void free(std::span<const uint32_t>) override {}

 private:
  static uint64_t round(uint64_t n) noexcept { return (n + 4095) & ~uint64_t{4095}; }

  // The private buffers of a thread.
  struct desk {
    explicit desk(uint64_t length) : image(length), delta(length), next(length) {}
    std::vector<std::byte> image, delta, next;
    std::byte* unflushed = nullptr;  // parity
    volatile uint32_t done = 0;
  };

  void write(std::span<const uint32_t> slots, content c) {
    desk d(length_);
    // A log of its own for each batch: batches of several threads run at a time, of one thread
    // after each other.
    uint64_t entry = log_ + next_log_.fetch_add(1) % logs * log_size;
    const uint64_t entry_size = (64 + length_ + 63) & ~uint64_t{63}, log_end = entry + log_size;
    const uint64_t log_begin = entry;
    const uint64_t my_parity = parity_ + number_of_this_thread() % threads_max * parity_size_;
    for (const uint32_t slot : slots) {
      std::byte* data = file_.bytes() + slot * stride_;
      std::byte* parity = file_.bytes() + my_parity + slot * stride_ % row_;
      std::memcpy(d.image.data(), data, length_);
      std::memcpy(d.image.data() + header, c.next(), length_ - header);
      switch (what_) {
        case floor_of::logfree: logfree(d, data, parity); break;
        case floor_of::log: append(d, entry, 1); break;
        case floor_of::redo: append(d, entry, 2); break;
      }
      if (what_ == floor_of::log) std::memcpy(data, d.image.data(), length_);
      if (what_ == floor_of::redo) in_place(d, data, parity);
      entry += entry_size;
      if (entry + entry_size > log_end) entry = log_begin;
    }
    if (d.unflushed != nullptr) {
      ops_.flush(d.unflushed, length_);
      fence(d.unflushed);
    }
  }

  void logfree(desk& d, std::byte* data, std::byte* parity) {
    if (d.unflushed != nullptr) ops_.flush(d.unflushed, length_);
    fused_.encode({data, data, d.image.data(), parity, d.delta.data(), d.next.data(), length_},
                  &d.done);
    fence(data);
    stores_.push(parity, d.next.data(), length_, &d.done);
    d.unflushed = parity;
  }
  void append(desk& d, uint64_t entry, unsigned replicas) {
    for (unsigned k = 0; k < replicas; ++k) {
      std::byte* to = file_.bytes() + entry + k * logs * log_size;
      ops_.copy_nt(to, d.image.data(), 64);  // stands for the entry's head
      medium::copy_persist(ops_, false, to + 64, d.image.data(), length_);
      if (!cpu_) sync(to);
    }
    if (cpu_) ops_.fence();
  }
  void in_place(desk& d, std::byte* data, std::byte* parity) {
    codec::xor_delta(d.delta.data(), data, d.image.data(), length_);
    codec::xor_delta(d.next.data(), parity, d.delta.data(), length_);
    medium::copy_persist(ops_, false, data, d.image.data(), length_);
    medium::copy_persist(ops_, false, parity, d.next.data(), length_);
    fence(data);
  }

  void fence(const std::byte* at) {
    if (cpu_)
      ops_.fence();
    else
      sync(at);
  }
  void sync(const std::byte* p) {
    const auto at = static_cast<uint64_t>(p - file_.bytes()), begin = at & ~uint64_t{4095};
    if (::msync(file_.bytes() + begin, at + length_ - begin, MS_SYNC) != 0)
      throw std::runtime_error("msync failed");
  }

  const floor_of what_;
  const uint64_t length_, stride_, row_, parity_, parity_size_, log_;
  const bool cpu_;
  mapped_file file_;
  std::atomic<uint64_t> next_log_{0};
  const medium::persist_ops& ops_ = medium::persist();
  const medium::fused_ops& fused_ = medium::fused(false);
  const medium::fused_ops& stores_ = medium::fused(true);  // nothing is written back
};

}  // namespace

std::unique_ptr<object_system> make_raw(const system_kind& k, const options& o,
                                        const population& p) {
  const floor_of what = k.name == "raw-log"    ? floor_of::log
                        : k.name == "raw-redo" ? floor_of::redo
                                               : floor_of::logfree;
  return std::make_unique<raw_objects>(what, p, cpu_persists(o.dir));
}

}  // namespace scute::bench
