// SPDX-License-Identifier: BSD-3-Clause
#include "worker.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace scute_campaign {

namespace {

constexpr size_t items_max = 150;
constexpr uint64_t item_min = 32, item_max = uint64_t{24} << 10;

}  // namespace

worker::worker(live_state& state, unsigned number)
    : s_(state), random_(mix(state.how.seed, 0x3042 + number)) {}

std::shared_lock<gate> worker::while_writing() {
  return s_.how.wild ? std::shared_lock(s_.rain, std::defer_lock) : std::shared_lock(s_.rain);
}

bool worker::excused(int code, const char* what) {
  if (code == SCUTE_E_NOSPC) return true;
  // The remains of a lost header may look freed, or like nothing at all. Damage between the opening
  // of an object and its commit cannot be told from another's change: nothing is written then.
  const bool loss = code == SCUTE_E_CORRUPT || code == SCUTE_E_FREED || code == SCUTE_E_OID ||
                    code == SCUTE_E_CONFLICT;
  if (s_.how.wild && loss) return true;
  s_.broken(fmt::format("{}: {}: {}", what, scute_errorname(code), scute_errormsg()));
  return false;
}

void worker::give_up(size_t index) {
  ++refused_;
  std::swap(items_[index], items_.back());
  items_.pop_back();
}

bool worker::compare(item& i) {
  const std::shared_lock dry(s_.rain);
  const void* at = nullptr;
  uint64_t size = 0;
  int code = scute_get_verified(s_.pool, i.oid, &at);
  if (code == SCUTE_OK) code = scute_object_info(s_.pool, i.oid, &size, nullptr, nullptr);
  ++reads_;
  if (code != SCUTE_OK) {
    excused(code, "a verified read");
    ++refused_;
    return false;
  }
  bytes_ += size;
  if (size == i.bytes.size() && std::memcmp(at, i.bytes.data(), size) == 0) return true;
  if (s_.how.wild && s_.how.level != SCUTE_PROTECT_MLPC) {
    ++unchecked_;
    return false;
  }
  ++silent_;
  const auto* bytes = static_cast<const std::byte*>(at);
  const uint64_t common = std::min<uint64_t>(size, i.bytes.size());
  uint64_t first = 0, last = 0, wrong = 0, old = 0;
  for (uint64_t k = 0; k < common; ++k) {
    if (bytes[k] == i.bytes[k]) continue;
    first = wrong == 0 ? k : first;
    last = k;
    ++wrong;
    old += k < i.before.size() && bytes[k] == i.before[k] ? 1 : 0;
  }
  // Bytes that changed after they had been verified, or bytes whose checksum accepts them?
  const int again = scute_get_verified(s_.pool, i.oid, &at);
  s_.broken(fmt::format(
      "the object at {:#x} reads {} wrong bytes from byte {} to {} of {}, {} of them "
      "as they were in the "
      "version before, without an error (a second verified read: {})",
      i.oid & 0xffff'ffff'ffffu, wrong, first, last, i.bytes.size(), old, scute_errorname(again)));
  return false;
}

void worker::read_one() {
  if (items_.empty()) return;
  const size_t i = random_.below(items_.size());
  if (compare(items_[i])) return;
  std::swap(items_[i], items_.back());
  items_.pop_back();
}

// One to three operations. The model changes when the commit has succeeded.
void worker::transact() {
  const std::shared_lock awake(s_.rest);
  scute_tx* tx = nullptr;
  if (const int code = scute_tx_begin(s_.pool, &tx); code != SCUTE_OK) {
    excused(code, "beginning a transaction");
    return;
  }
  std::vector<std::pair<size_t, item>> changed;  // index (or beyond the end: new), what it will be
  const auto failed = [&](int code, const char* what, size_t index) {
    scute_tx_abort(tx);
    if (excused(code, what) && code != SCUTE_E_NOSPC && index < items_.size()) give_up(index);
  };
  for (uint64_t n = 1 + random_.below(3); n != 0; --n) {
    const size_t index = items_.empty() ? 0 : random_.below(items_.size());
    bool taken = items_.empty();
    for (const auto& c : changed) taken = taken || c.first == index;
    const uint64_t what = random_.below(10);
    if (taken || (what < 2 && items_.size() + changed.size() < items_max)) {
      item made{0, std::vector<std::byte>(random_.size(item_min, item_max))};
      fill(made.bytes.data(), random_.word(), made.bytes.size());
      void* to = nullptr;
      const std::shared_lock dry = while_writing();
      if (const int code = scute_tx_alloc(tx, made.bytes.size(), 1, &made.oid, &to);
          code != SCUTE_OK)
        return failed(code, "allocating", SIZE_MAX);
      std::memcpy(to, made.bytes.data(), made.bytes.size());
      changed.emplace_back(SIZE_MAX, std::move(made));
      continue;
    }
    item next = items_[index];
    next.before = items_[index].bytes;
    if (what == 2) {
      if (const int code = scute_tx_free(tx, next.oid); code != SCUTE_OK)
        return failed(code, "freeing", index);
      next.oid = SCUTE_OID_NULL;
    } else if (what < 6) {
      void* to = nullptr;
      if (const int code = scute_tx_open(tx, next.oid, &to); code != SCUTE_OK)
        return failed(code, "opening", index);
      fill(next.bytes.data(), random_.word(), next.bytes.size());
      std::memcpy(to, next.bytes.data(), next.bytes.size());
    } else {
      const uint64_t length = random_.size(1, next.bytes.size());
      const uint64_t at = random_.below(next.bytes.size() - length + 1);
      void* to = nullptr;
      if (const int code = scute_tx_add_range(tx, next.oid, at, length, &to); code != SCUTE_OK)
        return failed(code, "opening a range", index);
      fill(next.bytes.data() + at, random_.word(), length);
      std::memcpy(to, next.bytes.data() + at, length);
    }
    changed.emplace_back(index, std::move(next));
  }
  {
    const std::shared_lock dry = while_writing();
    if (const int code = scute_tx_commit(tx); code != SCUTE_OK) {
      excused(code, "committing");
      return;
    }
  }
  ++transactions_;
  for (auto& [index, now] : changed) {
    if (index == SIZE_MAX)
      items_.push_back(std::move(now));
    else
      items_[index] = std::move(now);
  }
  std::erase_if(items_, [](const item& i) { return i.oid == SCUTE_OID_NULL; });
}

void worker::run() {
  while (!s_.stop.load(std::memory_order_relaxed)) {
    if (random_.one_in(3))
      read_one();
    else
      transact();
  }
}

void worker::compare_all() {
  if (s_.how.spoil == drill::silent && !items_.empty()) items_[0].bytes[0] ^= std::byte{1};
  uint64_t same = 0;
  std::erase_if(items_, [&](item& i) {
    const bool right = compare(i);
    same += right ? 1 : 0;
    return !right;
  });
  const std::lock_guard hold(s_.result_mutex);
  live_result& r = s_.result;
  r.objects += same;
  r.transactions += std::exchange(transactions_, 0);
  r.reads += std::exchange(reads_, 0);
  r.bytes_compared += std::exchange(bytes_, 0);
  r.refused += std::exchange(refused_, 0);
  r.unchecked += std::exchange(unchecked_, 0);
  r.silent += std::exchange(silent_, 0);
}

}  // namespace scute_campaign
