// SPDX-License-Identifier: BSD-3-Clause
// The floor: the same objects in DRAM, gone at the end of the process.
#include <cstdlib>
#include <cstring>
#include <new>

#include "systems/object_system.hpp"

namespace scute::bench {
namespace {

class volatile_objects final : public object_system {
 public:
  explicit volatile_objects(const population& p) : size_(p.size), at_(p.slots) {}
  ~volatile_objects() override {
    for (void* p : at_) std::free(p);
  }

  void alloc(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) {
      void* p = std::malloc(size_);
      if (p == nullptr) throw std::bad_alloc();
      std::memcpy(p, c.next(), size_);
      at_[slot] = p;
    }
  }
  void overwrite(std::span<const uint32_t> slots, content c) override {
    for (const uint32_t slot : slots) std::memcpy(at_[slot], c.next(), size_);
  }
  void free(std::span<const uint32_t> slots) override {
    for (const uint32_t slot : slots) {
      std::free(at_[slot]);
      at_[slot] = nullptr;
    }
  }

 private:
  uint64_t size_;
  std::vector<void*> at_;
};

}  // namespace

std::unique_ptr<object_system> make_volatile(const system_kind&, const options&,
                                             const population& p) {
  return std::make_unique<volatile_objects>(p);
}

}  // namespace scute::bench
