// SPDX-License-Identifier: BSD-3-Clause
// objects_actor.cpp: plain objects of 1 byte to 64 KiB in the slots of a table: allocated, freed,
// replaced, overwritten, changed in a range and in place, several in one transaction; sometimes
// after the same transaction was aborted.
#include "actor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace scute_torture {

std::string difference(const void* found, const void* expected, uint64_t n) {
  const auto* f = static_cast<const unsigned char*>(found);
  const auto* e = static_cast<const unsigned char*>(expected);
  if (n == 0 || std::memcmp(f, e, n) == 0) return {};
  uint64_t first = n, last = 0, count = 0;
  for (uint64_t i = 0; i < n; ++i) {
    if (f[i] == e[i]) continue;
    first = std::min(first, i);
    last = i;
    ++count;
  }
  return fmt::format("byte {} of {} is {:#04x}, not {:#04x}; {} bytes differ, the last at {}",
                     first, n, f[first], e[first], count, last);
}

namespace {

constexpr unsigned slots = 24;
constexpr uint64_t size_max = 64 << 10;

struct table {
  uint64_t number;
  scute_oid object[slots];
};

enum class act { make, drop, replace, overwrite, range, in_place, brief };
constexpr const char* act_names[] = {"allocate",  "free",     "free and allocate", "overwrite",
                                     "add_range", "in place", "allocate and free"};

struct operation {
  act what;
  unsigned slot;
  uint64_t key;             // of the bytes written
  uint64_t size;            // of a new object
  uint64_t offset, length;  // of a range
};

struct plan {
  std::vector<operation> operations;
  bool rehearse = false;        // abort the same transaction first
  bool rehearse_inner = false;  // by an inner level
  bool in_place_number = false;
};

struct rehearsal_over {};

class objects_actor final : public actor {
 public:
  objects_actor(uint64_t seed, unsigned index)
      : actor(seed, index, "objects"), type_(0x1000 + index), model_(slots) {}

  scute_oid make_root(scute::tx& tx) const override { return tx.allocate(sizeof(table), 1).oid; }

  void perform(const scute::pool& pool, uint64_t n, way how) override {
    const scute::ptr<table> root(root_);
    const table& now = pool.get(root);
    const plan p = make_plan(n, how, [&](unsigned slot) {
      return now.object[slot] == 0 ? 0 : pool.size_of(scute::ptr<char[]>(now.object[slot]));
    });
    if (p.operations.empty()) {
      pool.update(root, [&](table& t) { t.number = n; });
      return;
    }
    if (p.rehearse) rehearse(pool, n, p);
    pool.transact([&](scute::tx& tx) { apply(tx, n, p); });
  }

  void advance(uint64_t n, way how) override {
    const plan p = make_plan(n, how, [&](unsigned slot) { return model_[slot].bytes.size(); });
    for (const operation& o : p.operations) {
      thing& t = model_[o.slot];
      if (o.what == act::brief) continue;
      t.written_by = n;
      t.last = o;
      switch (o.what) {
        case act::make:
        case act::replace: t.bytes.resize(o.size); [[fallthrough]];
        case act::overwrite: fill(t.bytes.data(), o.key, 0, t.bytes.size()); break;
        case act::drop: t.bytes.clear(); break;
        default: fill(t.bytes.data() + o.offset, o.key, o.offset, o.length);
      }
    }
  }

  void compare(const scute::pool& pool) const override {
    const table& now = pool.get_verified(scute::ptr<table>(root_));
    for (unsigned slot = 0; slot < slots; ++slot) {
      const thing& t = model_[slot];
      const scute_oid oid = now.object[slot];
      const auto wrong = [&](const std::string& what) {
        throw violation(fmt::format(
            "{}: slot {}, object {:#x}: {}. It was last changed by transaction {} ({}); it has {} "
            "bytes in all.",
            name(), slot, oid, what, t.written_by, spell(t.last), t.bytes.size()));
      };
      if (t.bytes.empty() && oid != 0) wrong("there is an object where none must be");
      if (t.bytes.empty()) continue;
      if (oid == 0) wrong("the object is missing");
      const void* bytes = nullptr;
      if (scute_get_verified(pool.native_handle(), oid, &bytes) != SCUTE_OK)
        wrong(fmt::format("it cannot be read: {}", scute_errormsg()));
      if (pool.size_of(scute::ptr<char[]>(oid)) != t.bytes.size())
        wrong(fmt::format("it has {} bytes", pool.size_of(scute::ptr<char[]>(oid))));
      const std::string differs = difference(bytes, t.bytes.data(), t.bytes.size());
      if (!differs.empty()) wrong(differs);
    }
  }

  std::string describe(uint64_t n, way how) const override {
    const plan p = make_plan(n, how, [&](unsigned slot) { return model_[slot].bytes.size(); });
    std::string text;
    for (const operation& o : p.operations)
      text += fmt::format("{}slot {}: {}", text.empty() ? "" : ", ", o.slot, spell(o));
    return text.empty() ? "its number only" : text;
  }

  uint32_t type() const override { return type_; }
  std::set<scute_oid> owned(const scute::pool& pool) const override {
    std::set<scute_oid> all;
    for (const scute_oid oid : pool.get(scute::ptr<table>(root_)).object)
      if (oid != 0) all.insert(oid);
    return all;
  }

  void clear(const scute::pool& pool) override {
    for (unsigned slot = 0; slot < slots; ++slot)
      pool.transact([&](scute::tx& tx) {
        scute_oid& oid = tx.edit(scute::ptr<table>(root_), &table::object, slot);
        if (oid != 0) tx.free_bytes(oid);
        oid = 0;
      });
  }

 private:
  struct thing {
    std::vector<unsigned char> bytes;  // none: there is no object
    uint64_t written_by = 0;
    operation last{};
  };

  static std::string spell(const operation& o) {
    const char* act = act_names[static_cast<int>(o.what)];
    if (o.length != 0) return fmt::format("{} [{}, {})", act, o.offset, o.offset + o.length);
    return o.size != 0 ? fmt::format("{} {} bytes", act, o.size) : act;
  }

  // The slots of one transaction are different ones, so the sizes before it are all it depends on.
  template <typename SizeOf>
  plan make_plan(uint64_t n, way how, SizeOf size_of) const {
    plan p;
    dice d = dice_of(n);
    uint64_t count = d.one_in(16) ? 0 : d.one_in(24) ? 16 : 1 + d.below(4);
    p.rehearse = d.one_in(10);
    p.rehearse_inner = d.one_in(2);
    p.in_place_number = d.one_in(5);
    if (how == way::idle) count = 0;
    if (how == way::shrinking) count = 6, p.rehearse = false;
    const uint64_t first = d.below(slots);
    for (uint64_t i = 0; i < count; ++i) {
      operation o{};
      o.slot = static_cast<unsigned>((first + i * 7) % slots);
      o.key = d.word();
      const uint64_t size = d.size(1, size_max), choice = d.below(16);
      const uint64_t at = d.word(), extent = d.size(1, 4096);
      const uint64_t present = size_of(o.slot);
      if (how == way::shrinking) {
        if (present == 0) continue;
        o.what = act::drop;
      } else if (present == 0) {
        o.what = choice == 0 ? act::brief : act::make;
      } else {
        o.what = choice < 3    ? act::drop
                 : choice < 6  ? act::replace
                 : choice < 9  ? act::overwrite
                 : choice < 12 ? act::range
                 : choice < 15 ? act::in_place
                               : act::brief;
      }
      if (o.what == act::make || o.what == act::replace || o.what == act::brief) o.size = size;
      if (o.what == act::range || o.what == act::in_place) {
        o.offset = at % present;
        o.length = std::min(extent, present - o.offset);
      }
      p.operations.push_back(o);
    }
    return p;
  }

  void apply(scute::tx& tx, uint64_t n, const plan& p) const {
    const scute::ptr<table> root(root_);
    (p.in_place_number ? tx.in_place(root, &table::number) : tx.edit(root, &table::number)) = n;
    for (const operation& o : p.operations) {
      scute_oid oid = tx.read(root, &table::object)[o.slot];
      switch (o.what) {
        case act::make:
        case act::replace: {
          if (o.what == act::replace) tx.free_bytes(oid);
          const auto made = tx.allocate(o.size, type_);
          fill(made.bytes, o.key, 0, o.size);
          tx.edit(root, &table::object, o.slot) = made.oid;
          break;
        }
        case act::drop:
          tx.free_bytes(oid);
          tx.edit(root, &table::object, o.slot) = 0;
          break;
        case act::overwrite: {
          const uint64_t size = tx.size_of(scute::ptr<char[]>(oid));
          fill(tx.open_bytes(oid), o.key, 0, size);
          break;
        }
        case act::range:
          fill(tx.edit_bytes(oid, o.offset, o.length), o.key, o.offset, o.length);
          break;
        case act::in_place:
          fill(tx.in_place_bytes(oid, o.offset, o.length), o.key, o.offset, o.length);
          break;
        case act::brief: {
          const auto made = tx.allocate(o.size, type_);
          fill(made.bytes, o.key, 0, o.size);
          tx.free_bytes(made.oid);
        }
      }
    }
  }

  void rehearse(const scute::pool& pool, uint64_t n, const plan& p) const {
    try {
      if (p.rehearse_inner) {
        scute::transaction outer(pool);
        apply(outer, n, p);
        scute::transaction(pool).abort();
        outer.commit();
        throw violation(name() + ": a transaction with an aborted inner level was committed");
      }
      pool.transact([&](scute::tx& tx) {
        apply(tx, n, p);
        throw rehearsal_over();
      });
    } catch (const rehearsal_over&) {
    } catch (const scute::error& e) {
      if (e.which() != scute::errc::aborted && e.which() != scute::errc::nospc) throw;
    }
  }

  uint32_t type_;
  std::vector<thing> model_;
};

}  // namespace

std::unique_ptr<actor> make_objects_actor(uint64_t seed, unsigned index) {
  return std::make_unique<objects_actor>(seed, index);
}

}  // namespace scute_torture
