// SPDX-License-Identifier: BSD-3-Clause
#include "testing/pool/pool_subject.hpp"

#include <algorithm>
#include <cstring>
#include <random>
#include <stdexcept>

#include "testing/pool/faults.hpp"
#include "testing/pool/place.hpp"
#include "testing/pool/pool_handle.hpp"

namespace scute::testing {

pool_subject::pool_subject(const detail::pool_recipe& recipe)
    : options_(recipe.options),
      log_file_(recipe.log_file),
      locks_before_(share_locks(recipe.locks)),
      at_once_before_(resolve_at_once(recipe.resolve_at_once)) {}

pool_subject::~pool_subject() {
  share_locks(locks_before_);
  resolve_at_once(at_once_before_);
}

uint64_t pool_subject::size() const {
  return options_.size + (log_file_ ? simulated_place_size : 0);
}

void pool_subject::create(memory& m, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::byte identity[identity_size];
  for (auto& b : identity) b = static_cast<std::byte>(random() | 1);
  scute_pool* handle = nullptr;
  scute::detail::check(create_in(m.simulated(), options_, identity, &handle));
  pool_ = scute::pool::adopt(handle);
}

void pool_subject::open(memory& m) {
  scute_pool* handle = nullptr;
  scute::detail::check(open_in(m.simulated(), options_, &handle));
  pool_ = scute::pool::adopt(handle);
}

findings pool_subject::check(bool repair) {
  findings found;
  const auto note = [&](std::string_view what, uint64_t offset, uint64_t length, scute_oid,
                        bool repaired) {
    found.texts.push_back(std::string(what) + " at " + std::to_string(offset) + "+" +
                          std::to_string(length) + (repaired ? " (repaired)" : ""));
  };
  const auto r = pool_->check(repair, note, {});
  found.damaged = r.damaged;
  // Objects that recovery has found missing from a log count too.
  found.lost = std::max(r.lost, pool_->info().lost);
  found.damaged = std::max(r.damaged, found.lost);
  return found;
}

// POOL-6, and more: recovery must leave a pool that works.
void pool_subject::probe() {
  using scute::detail::check;
  constexpr size_t size = 40;
  scute_tx* tx = nullptr;
  scute_oid oid = SCUTE_OID_NULL;
  void* bytes = nullptr;
  check(scute_tx_begin(pool_->native_handle(), &tx));
  try {
    check(scute_tx_alloc(tx, size, 0, &oid, &bytes));
  } catch (...) {
    scute_tx_abort(tx);
    throw;
  }
  std::memset(bytes, 0x5a, size);
  check(scute_tx_commit(tx));
  const void* back = nullptr;
  check(scute_get_verified(pool_->native_handle(), oid, &back));
  for (size_t i = 0; i < size; ++i)
    if (static_cast<const unsigned char*>(back)[i] != 0x5a)
      throw std::runtime_error("a new object does not hold what was written to it");
  check(scute_tx_begin(pool_->native_handle(), &tx));
  if (const int error = scute_tx_free(tx, oid); error != SCUTE_OK) {
    scute_tx_abort(tx);
    check(error);
  }
  check(scute_tx_commit(tx));
}

void pool_subject::close() {
  pool_->close();
  pool_.reset();
}

void pool_subject::abandon() noexcept {
  if (!pool_) return;
  testing::abandon(pool_->native_handle());
  pool_.reset();
}

std::string pool_subject::place(std::span<const std::byte> image, uint64_t offset) const {
  return place_of(image, offset);
}

std::string pool_subject::recovered() {
  return "recovery completed " + std::to_string(pool_->info().recovered) +
         " decided transaction(s)";
}

void pool_subject::act_as(unsigned thread) noexcept {
  prefer_lane(thread);
}

bool pool_subject::ran_full(const std::exception& error) const noexcept {
  const auto* e = dynamic_cast<const scute::error*>(&error);
  return e != nullptr && e->which() == errc::nospc;
}

// Drained, so that columns which a transaction has left open to its second fence cannot lose other
// data.
void pool_subject::drain() {
  testing::drain(pool_->native_handle());
}

injury pool_subject::injure(fault_moment when, std::span<const std::byte> image,
                            uint64_t number) const {
  if (when == fault_moment::before_recovery) return injure_replica(image, number);
  // Without payload checksums the wrong page could not be identified.
  return options_.protection == SCUTE_PROTECT_MLPC ? injure_page(image, number) : injury{};
}

void set_engine(scute::pool& pool, scute_engine engine, uint64_t log_cap) {
  scute::detail::check(switch_engine(pool.native_handle(), engine, log_cap));
}

void pool_subject::lose_page(uint64_t offset) {
  testing::lose_page(pool_->native_handle(), offset);
}

}  // namespace scute::testing
