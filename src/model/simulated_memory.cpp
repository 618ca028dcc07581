// SPDX-License-Identifier: BSD-3-Clause
#include "model/simulated_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

namespace scute::model {

simulated_memory::simulated_memory(uint64_t size, bool eadr)
    : size_(size), eadr_(eadr), touched_((size / page + 63) / 64), protected_(touched_.size()) {
  void* p = ::mmap(nullptr, size, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<std::byte*>(p);
}

simulated_memory::~simulated_memory() {
  ::munmap(base_, size_);
}

void simulated_memory::touch(uint64_t offset, size_t n) noexcept {
  if (n == 0) return;
  for (uint64_t i = offset / page; i <= (offset + n - 1) / page; ++i)
    touched_[i / 64] |= uint64_t{1} << i % 64;
}

void simulated_memory::stream(uint64_t offset, const void* from, size_t n, unsigned writer) {
  if (listener != nullptr) listener->before(offset, n);
  std::memcpy(base_ + offset, from, n);
  touch(offset, n);
  if (listener != nullptr) listener->streamed(offset, n, writer);
}

void simulated_memory::store(uint64_t offset, const void* from, size_t n) {
  if (listener != nullptr) listener->before(offset, n);
  std::memcpy(base_ + offset, from, n);
  touch(offset, n);
  if (listener != nullptr) listener->stored(offset, n);
}

void simulated_memory::flush(uint64_t offset, size_t n, unsigned writer) {
  if (listener != nullptr) listener->before(offset, n);
  touch(offset, n);
  if (listener != nullptr) listener->flushed(offset, n, writer);
}

void simulated_memory::fence(unsigned writer) {
  if (listener == nullptr) return;
  listener->before(0, 0);
  listener->fenced(writer);
}

void simulated_memory::protect(uint64_t offset) noexcept {
  any_protected_ = true;
  protected_[offset / page / 64] |= uint64_t{1} << offset / page % 64;
  ::mprotect(base_ + offset, page, PROT_NONE);
}

void simulated_memory::unprotect(uint64_t offset) noexcept {
  protected_[offset / page / 64] &= ~(uint64_t{1} << offset / page % 64);
  ::mprotect(base_ + offset, page, PROT_READ | PROT_WRITE);
}

void simulated_memory::unprotect() noexcept {
  if (!any_protected_) return;
  any_protected_ = false;
  std::fill(protected_.begin(), protected_.end(), 0);
  ::mprotect(base_, size_, PROT_READ | PROT_WRITE);
}

void simulated_memory::restore(std::span<const std::byte> image, bool all) noexcept {
  unprotect();
  writers_ = 1;
  for (size_t word = 0; word < touched_.size(); ++word) {
    uint64_t bits = touched_[word];
    touched_[word] = 0;
    if (all) {
      for (uint64_t i = word * 64; i < std::min<uint64_t>(word * 64 + 64, size_ / page); ++i)
        if (std::memcmp(base_ + i * page, image.data() + i * page, page) != 0)
          std::memcpy(base_ + i * page, image.data() + i * page, page);
      continue;
    }
    for (; bits != 0; bits &= bits - 1) {
      const uint64_t at = (word * 64 + static_cast<unsigned>(std::countr_zero(bits))) * page;
      std::memcpy(base_ + at, image.data() + at, page);
    }
  }
}

void simulated_memory::rewind(std::span<const std::byte> image) noexcept {
  unprotect();
  writers_ = 1;
  for (uint64_t i = 0; i < size_ / page; ++i)
    if ((touched_[i / 64] >> i % 64 & 1) != 0)
      std::memcpy(base_ + i * page, image.data() + i * page, page);
}

bool simulated_memory::strayed(std::span<const std::byte> image) const noexcept {
  for (uint64_t i = 0; i < size_ / page; ++i)
    if ((touched_[i / 64] >> i % 64 & 1) == 0 && !is_protected(i * page) &&
        std::memcmp(base_ + i * page, image.data() + i * page, page) != 0)
      return true;
  return false;
}

}  // namespace scute::model
