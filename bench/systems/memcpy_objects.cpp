// SPDX-License-Identifier: BSD-3-Clause
// The physical limit of a durable write: the bytes go to their place by the fastest instructions
// and a fence waits for them. Nothing is atomic, nothing is found after a crash.
#include <sys/mman.h>

#include "core/medium/persist.hpp"
#include "systems/mapped_file.hpp"
#include "systems/object_system.hpp"

namespace scute::bench {
using namespace core;
namespace {

class memcpy_objects final : public object_system {
 public:
  memcpy_objects(const population& p, bool cpu)
      : size_(p.size),
        stride_((p.size + 63) & ~uint64_t{63}),
        cpu_(cpu),
        file_(p.path, p.slots * stride_) {}

  void alloc(std::span<const uint32_t> slots, content c) override { overwrite(slots, c); }

  void overwrite(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) {
      std::byte* to = file_.bytes() + slot * stride_;
      medium::copy_persist(ops_, false, to, c.next(), size_);
      if (cpu_)
        ops_.fence();
      else
        sync(to);
    }
  }

  void free(std::span<const uint32_t>) override {}

 private:
  void sync(const std::byte* p) {
    constexpr uint64_t page = 4096;
    const auto at = static_cast<uint64_t>(p - file_.bytes());
    const uint64_t begin = at & ~(page - 1);
    if (::msync(file_.bytes() + begin, at + size_ - begin, MS_SYNC) != 0)
      throw std::runtime_error("msync failed");
  }

  uint64_t size_, stride_;
  bool cpu_;
  mapped_file file_;
  const medium::persist_ops& ops_ = medium::persist();
};

}  // namespace

std::unique_ptr<object_system> make_memcpy(const system_kind&, const options& o,
                                           const population& p) {
  return std::make_unique<memcpy_objects>(p, cpu_persists(o.dir));
}

}  // namespace scute::bench
