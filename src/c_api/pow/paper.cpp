// SPDX-License-Identifier: BSD-3-Clause
// The calls of ENTS, Table 1: files of objects that are identified by their addresses.
#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "c_api/pow/handles.hpp"

using namespace scute::core;
using c_api::need_out;

struct scute_pow_file final : pow::serializer {
  struct object {
    const void* at = nullptr;
    std::vector<std::byte> found;  // until it is adopted
  };

  uint32_t measure(uint64_t) override { return table->size; }
  // Threads under other locks may make objects meanwhile.
  void encode(uint64_t index, std::byte* to, uint32_t) override {
    const locked guard(lock);
    const object& o = objects.at(index);
    std::memcpy(to, o.at != nullptr ? o.at : o.found.data(), table->size);
  }
  void load(uint64_t index, uint32_t, const std::byte* bytes, uint32_t n) override {
    objects[index].found.assign(bytes, bytes + n);
    count = std::max(count, index + 1);
  }

  scute_pow* owner = nullptr;
  pow::table* table = nullptr;
  plain_mutex lock;  // of the members below
  bool is_there(uint64_t index) const noexcept {
    const pow::entry* const e = table->find(index);
    return e != nullptr && (e->state.load(std::memory_order_relaxed) & pow::entry_live) != 0;
  }
  object& object_at(uint64_t index) SCUTE_REQUIRES(lock) {
    if (index >= count)
      throw failure(SCUTE_E_RANGE, "the file has " + std::to_string(count) + " objects");
    if (!is_there(index))
      throw failure(SCUTE_E_FREED,
                    "object " + std::to_string(index) + " was made in a section that was aborted");
    return objects.at(index);
  }
  // The number of the object at this address, which gets one if need be.
  uint64_t index_of(const void* at) SCUTE_REQUIRES(lock) {
    const auto [there, made] = indexes.try_emplace(at, count);
    if (!made) return there->second;
    try {
      objects.try_emplace(count, object{at, {}});
    } catch (...) {
      indexes.erase(there);
      throw;
    }
    return count++;
  }

  // Those that are there: a file may name any index, and aborted sections leave some out.
  std::unordered_map<uint64_t, object> objects;
  uint64_t count = 0;  // above all indexes
  std::unordered_map<const void*, uint64_t> indexes;
};

scute_pow::scute_pow() = default;
scute_pow::~scute_pow() = default;

namespace scute::core::c_api {
namespace {

template <typename Fn>
int guarded_file(scute_pow_file* file, Fn&& body) noexcept {
  if (file == nullptr)
    return guarded([] { throw failure(SCUTE_E_INVALID, "the file handle is null"); });
  SCUTE_ASSERT(file->owner != nullptr);
  return guarded_pow(file->owner, [&] { body(*file); });
}

void put(scute_pow_file& f, pow::section& s, const void* at) {
  uint64_t index = 0;
  {
    const locked guard(f.lock);
    index = f.index_of(at);
  }
  if (f.is_there(index))
    s.edit(*f.table, index, pow::section::any_tag);
  else
    s.insert(*f.table, index);
}

}  // namespace
}  // namespace scute::core::c_api

using namespace scute::core::c_api;

extern "C" {

int scute_pow_alloc(scute_pow* store, const char* name, uint32_t size, scute_pow_file** file) {
  return guarded_pow(store, [&] {
    scute_pow& p = need(store);
    need_out(name, "name");
    need_out(file, "file");
    if (size == 0) throw failure(SCUTE_E_INVALID, "the size of an object must not be 0");
    auto f = std::make_unique<scute_pow_file>();
    f->owner = &p;
    // Earlier libraries used 0, the type without a name.
    static constexpr uint32_t type = 0x616c6c00, earlier[] = {0};
    f->table = &p.in->attach(name, type, size, true, *f, earlier);
    pow::table& in = *f->table;
    *file = &list(p, p.files, std::move(f), in);
  });
}

int scute_pow_store(scute_pow_file* file, const void* s) {
  return guarded_file(file, [&](scute_pow_file& f) {
    need_out(static_cast<const char*>(s), "s");
    if (pow::section* const open = pow::section::of_thread(f.owner->in->parts()))
      return put(f, *open, s);
    pow::section one(f.owner->in->parts(), pow::durability::strict);
    put(f, one, s);
    one.commit();
  });
}

int scute_pow_epoch(scute_pow_file* file, const void* s) {
  return guarded_file(file, [&](scute_pow_file& f) {
    need_out(static_cast<const char*>(s), "s");
    pow::section* const open = pow::section::of_thread(f.owner->in->parts());
    if (open == nullptr) {
      pow::section one(f.owner->in->parts(), pow::durability::strict);
      put(f, one, s);
      return one.commit();
    }
    put(f, *open, s);
    open->commit();
  });
}

int scute_pow_count(scute_pow_file* file, uint64_t* count) {
  return guarded_file(file, [&](scute_pow_file& f) {
    const locked guard(f.lock);
    need_out(count, "count") = f.count;
  });
}

int scute_pow_load(scute_pow_file* file, uint64_t index, const void** bytes) {
  return guarded_file(file, [&](scute_pow_file& f) {
    const locked guard(f.lock);
    need_out(bytes, "bytes");
    const scute_pow_file::object& o = f.object_at(index);
    *bytes = o.at != nullptr ? o.at : o.found.data();
  });
}

int scute_pow_adopt(scute_pow_file* file, uint64_t index, const void* s) {
  return guarded_file(file, [&](scute_pow_file& f) {
    need_out(static_cast<const char*>(s), "s");
    const locked guard(f.lock);
    scute_pow_file::object& o = f.object_at(index);
    if (o.at != nullptr)
      throw failure(SCUTE_E_EXISTS,
                    "object " + std::to_string(index) + " of the file has an address already");
    if (!f.indexes.try_emplace(s, index).second)
      throw failure(SCUTE_E_EXISTS, "another object of the file is at this address");
    o.at = s;
    o.found = {};
  });
}

}  // extern "C"
