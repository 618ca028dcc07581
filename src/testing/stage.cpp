// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <stdexcept>

#include "testing/scenario_state.hpp"

namespace scute::testing {
namespace detail {

subject& stage_state::need() {
  if (!open_) throw std::logic_error("the scenario's " + subject_.noun() + " is closed");
  return subject_;
}

void stage_state::create() {
  if (open_) throw std::logic_error("the scenario's " + subject_.noun() + " exists already");
  subject_.create(place_, seed_);
  open_ = true;
}

void stage_state::open() {
  if (open_) throw std::logic_error("the scenario's " + subject_.noun() + " is open already");
  subject_.open(place_);
  open_ = true;
}

void stage_state::close() {
  need().close();
  open_ = false;
}

void stage_state::abandon() noexcept {
  if (!open_) return;
  subject_.abandon();
  open_ = false;
}

void stage_state::damage(uint64_t offset, std::span<const std::byte> what) {
  const auto all = bytes.bytes();
  if (offset > all.size() || what.size() > all.size() - offset)
    throw std::out_of_range("damage beyond the end of the " + subject_.noun());
  damaged = true;
  if (open_) subject_.drain();
  if (record != nullptr) {
    record->damage(offset, what.data(), what.size());
    return;
  }
  std::copy(what.begin(), what.end(), all.begin() + static_cast<ptrdiff_t>(offset));
}

void stage_state::lose_page(uint64_t offset) {
  if (offset >= bytes.bytes().size())
    throw std::out_of_range("a page beyond the end of the " + subject_.noun());
  damaged = true;
  need().lose_page(offset);
}

}  // namespace detail

bool basic_stage::is_open() const noexcept {
  return state_->is_open();
}
void basic_stage::close() const {
  state_->close();
}
void basic_stage::open() const {
  state_->open();
}
void basic_stage::create() const {
  state_->create();
}
void basic_stage::abandon() const {
  state_->abandon();
}
std::span<const std::byte> basic_stage::bytes() const noexcept {
  return state_->bytes.bytes();
}
void basic_stage::damage(uint64_t offset, std::span<const std::byte> bytes) const {
  state_->damage(offset, bytes);
}
void basic_stage::lose_page(uint64_t offset) const {
  state_->lose_page(offset);
}
subject& basic_stage::opened() const {
  return state_->need();
}

}  // namespace scute::testing
