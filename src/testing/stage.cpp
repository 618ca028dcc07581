// SPDX-License-Identifier: BSD-3-Clause
#include <random>
#include <stdexcept>

#include "testing/pool_handle.hpp"
#include "testing/scenario_state.hpp"

namespace scute::testing {
namespace detail {

scute::pool& stage_state::need() {
  if (!pool) throw std::logic_error("the scenario's pool is closed");
  return *pool;
}

void stage_state::create() {
  if (pool) throw std::logic_error("the scenario's pool exists already");
  std::mt19937_64 random(seed);
  std::byte identity[identity_size];
  for (auto& b : identity) b = static_cast<std::byte>(random() | 1);
  scute_pool* handle = nullptr;
  scute::detail::check(create_in(memory, options, identity, &handle));
  pool = scute::pool::adopt(handle);
}

void stage_state::open() {
  if (pool) throw std::logic_error("the scenario's pool is open already");
  scute_pool* handle = nullptr;
  scute::detail::check(open_in(memory, options, &handle));
  pool = scute::pool::adopt(handle);
}

void stage_state::close() {
  need().close();
  pool.reset();
}

void stage_state::abandon() noexcept {
  if (!pool) return;
  testing::abandon(pool->native_handle());
  pool.reset();
}

}  // namespace detail

scute::pool& stage::pool() const {
  return state_->need();
}
bool stage::is_open() const noexcept {
  return state_->pool.has_value();
}
void stage::close() const {
  state_->close();
}
void stage::open() const {
  state_->open();
}
void stage::create() const {
  state_->create();
}
void stage::abandon() const {
  state_->abandon();
}
std::span<const std::byte> stage::bytes() const noexcept {
  return state_->memory.bytes();
}
void stage::damage(uint64_t offset, std::span<const std::byte> bytes) const {
  const auto all = state_->memory.bytes();
  if (offset > all.size() || bytes.size() > all.size() - offset)
    throw std::out_of_range("damage beyond the end of the pool");
  state_->damaged = true;
  // Columns that a transaction has left open to its second fence cannot lose anything else.
  if (state_->pool) testing::drain(state_->pool->native_handle());
  if (state_->record != nullptr) {
    state_->record->damage(offset, bytes.data(), bytes.size());
    return;
  }
  std::copy(bytes.begin(), bytes.end(), all.begin() + static_cast<ptrdiff_t>(offset));
}

void stage::lose_page(uint64_t offset) const {
  if (offset >= state_->memory.bytes().size())
    throw std::out_of_range("a page beyond the end of the pool");
  state_->damaged = true;
  testing::lose_page(state_->need().native_handle(), offset);
}

}  // namespace scute::testing
