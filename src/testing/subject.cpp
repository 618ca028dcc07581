// SPDX-License-Identifier: BSD-3-Clause
#include "scute/subject.hpp"

#include <stdexcept>

#include "model/simulated_memory.hpp"

namespace scute::testing {

std::span<std::byte> memory::bytes() const noexcept {
  return memory_->bytes();
}
bool memory::eadr() const noexcept {
  return memory_->eadr();
}

writer::writer(const memory& m) noexcept
    : memory_(&m.simulated()), number_(memory_->next_writer()) {}

uint64_t writer::offset_of(const void* p, size_t n) const {
  const auto all = memory_->bytes();
  const auto begin = reinterpret_cast<uintptr_t>(all.data());
  const auto at = reinterpret_cast<uintptr_t>(p);
  if (at < begin || at - begin > all.size() || n > all.size() - (at - begin))
    throw std::out_of_range("a writer was given bytes outside of its memory");
  return at - begin;
}

void writer::store(void* to, const void* from, size_t n) {
  if (n != 0) memory_->store(offset_of(to, n), from, n);
}
void writer::stream(void* to, const void* from, size_t n) {
  if (n != 0) memory_->stream(offset_of(to, n), from, n, number_);
}
void writer::flush(const void* p, size_t n) {
  if (n != 0) memory_->flush(offset_of(p, n), n, number_);
}
void writer::fence() {
  memory_->fence(number_);
}

std::string subject::noun() const {
  return "structure";
}
std::string subject::place(std::span<const std::byte>, uint64_t offset) const {
  return "offset +" + std::to_string(offset);
}
std::string subject::recovered() {
  return "";
}
void subject::act_as(unsigned) noexcept {}
bool subject::ran_full(const std::exception&) const noexcept {
  return false;
}
void subject::drain() {}
bool subject::takes_faults() const noexcept {
  return false;
}
injury subject::injure(fault_moment, std::span<const std::byte>, uint64_t) const {
  return {};
}
void subject::lose_page(uint64_t) {
  throw std::logic_error("this " + noun() + " cannot lose pages");
}

}  // namespace scute::testing
