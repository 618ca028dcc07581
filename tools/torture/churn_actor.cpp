// SPDX-License-Identifier: BSD-3-Clause
// churn_actor.cpp: fills the pool with blocks until no space is left, frees most of them, and fills
// it again: every chunk gets a new use over and over.
#include "actor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace scute_torture {

namespace {

struct stack {
  uint64_t number;
  uint64_t count;
  scute_oid top;
};

struct block_head {
  scute_oid below;
};

constexpr uint64_t size_max = 40'000;

class churn_actor final : public actor {
 public:
  churn_actor(uint64_t seed, unsigned index) : actor(seed, index, "churn"), type_(0x2000 + index) {}

  scute_oid make_root(scute::tx& tx) const override { return tx.allocate(sizeof(stack), 1).oid; }

  way inclination() override { return shrinking_ ? way::shrinking : way::planned; }

  void perform(const scute::pool& pool, uint64_t n, way how) override {
    if (how == way::shrinking && !shrinking_) {  // the pool is full
      shrinking_ = true;
      stop_at_ = pool.get(scute::ptr<stack>(root_)).count / 4;
    }
    pool.transact([&](scute::tx& tx) {
      stack& s = tx.open(scute::ptr<stack>(root_));
      s.number = n;
      for (const block& b : pushes(n, how)) {
        const auto made = tx.allocate(b.size, type_);
        const block_head head{s.top};
        std::memcpy(made.bytes, &head, sizeof head);
        fill(made.bytes + sizeof head, b.key, 0, b.size - sizeof head);
        s.top = made.oid;
        ++s.count;
      }
      for (uint64_t i = pops(n, how); i != 0 && s.count != 0; --i, --s.count) {
        const scute_oid gone = s.top;
        s.top = tx.read(scute::ptr<block_head>(gone), &block_head::below);
        tx.free_bytes(gone);
      }
      if (s.count <= stop_at_) shrinking_ = false;
    });
  }

  void advance(uint64_t n, way how) override {
    const auto more = pushes(n, how);
    model_.insert(model_.end(), more.begin(), more.end());
    model_.resize(model_.size() - std::min<uint64_t>(pops(n, how), model_.size()));
  }

  void compare(const scute::pool& pool) const override {
    const stack& s = pool.get_verified(scute::ptr<stack>(root_));
    if (s.count != model_.size())
      throw violation(
          fmt::format("{}: the stack has {} blocks, not {}.", name(), s.count, model_.size()));
    scute_oid oid = s.top;
    std::vector<unsigned char> expected;
    for (uint64_t i = model_.size(); i-- != 0;) {
      const block& b = model_[i];
      const auto wrong = [&](const std::string& what) {
        throw violation(
            fmt::format("{}: block {} of {}, object {:#x}: {}. It was made by "
                        "transaction {} with {} bytes.",
                        name(), i, model_.size(), oid, what, b.born, b.size));
      };
      const void* bytes = nullptr;
      if (scute_get_verified(pool.native_handle(), oid, &bytes) != SCUTE_OK)
        wrong(fmt::format("it cannot be read: {}", scute_errormsg()));
      if (pool.size_of(scute::ptr<char[]>(oid)) != b.size)
        wrong(fmt::format("it has {} bytes", pool.size_of(scute::ptr<char[]>(oid))));
      expected.resize(b.size - sizeof(block_head));
      fill(expected.data(), b.key, 0, expected.size());
      const auto* payload = static_cast<const unsigned char*>(bytes) + sizeof(block_head);
      const std::string differs = difference(payload, expected.data(), expected.size());
      if (!differs.empty()) wrong(differs);
      block_head head{};
      std::memcpy(&head, bytes, sizeof head);
      oid = head.below;
    }
    if (oid != 0)
      throw violation(fmt::format("{}: there is a block, {:#x}, below the lowest.", name(), oid));
  }

  std::string describe(uint64_t n, way how) const override {
    std::string text;
    for (const block& b : pushes(n, how))
      text += fmt::format("{}{}", text.empty() ? "allocates blocks of " : ", ", b.size);
    if (const uint64_t k = pops(n, how); k != 0) text = fmt::format("frees {} blocks", k);
    return text.empty() ? "its number only" : text;
  }

  uint32_t type() const override { return type_; }
  std::set<scute_oid> owned(const scute::pool& pool) const override {
    std::set<scute_oid> all;
    scute_oid oid = pool.get(scute::ptr<stack>(root_)).top;
    while (oid != 0 && all.insert(oid).second) oid = pool.get(scute::ptr<block_head>(oid)).below;
    return all;
  }

  void clear(const scute::pool& pool) override {
    while (pool.get(scute::ptr<stack>(root_)).count != 0)
      pool.transact([&](scute::tx& tx) {
        stack& s = tx.open(scute::ptr<stack>(root_));
        for (int i = 0; i < 32 && s.count != 0; ++i, --s.count) {
          const scute_oid gone = s.top;
          s.top = tx.read(scute::ptr<block_head>(gone), &block_head::below);
          tx.free_bytes(gone);
        }
      });
  }

 private:
  struct block {
    uint64_t size, key, born;
  };

  std::vector<block> pushes(uint64_t n, way how) const {
    std::vector<block> all;
    if (how != way::planned) return all;
    dice d = dice_of(n);
    for (uint64_t i = 1 + d.below(6); i != 0; --i)
      all.push_back({d.size(sizeof(block_head), size_max), d.word(), n});
    return all;
  }
  uint64_t pops(uint64_t n, way how) const {
    return how == way::shrinking ? 1 + dice_of(n).below(12) : 0;
  }

  uint32_t type_;
  bool shrinking_ = false;  // in the worker
  uint64_t stop_at_ = 0;
  std::vector<block> model_;
};

}  // namespace

std::unique_ptr<actor> make_churn_actor(uint64_t seed, unsigned index) {
  return std::make_unique<churn_actor>(seed, index);
}

}  // namespace scute_torture
