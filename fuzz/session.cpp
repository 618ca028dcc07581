// SPDX-License-Identifier: BSD-3-Clause
#include "session.hpp"

#include <algorithm>
#include <cstring>

#include "conditions.hpp"

namespace scute::fuzz {
namespace {

constexpr uint64_t locate_max =
    uint64_t{1} << 20;  // the meaning of inputs stays, whatever the largest image is

// Objects that no repair could repair cost thousands of attempts each; a few of them show it all.
constexpr unsigned losses_max = 6;

}  // namespace

session::session(ram_file& file, const base_image& image, bool read_only, uint64_t crash_fence)
    : image_(image), read_only_(read_only) {
  auto m = std::make_unique<ram_medium>(file, read_only);
  ram_medium* const medium = m.get();
  if (crash_fence != 0) m->crash_at_fence(crash_fence);
  scute_options o;
  scute_options_init(&o);
  if (read_only) o.flags = SCUTE_READONLY;
  auto made = std::make_unique<scute_pool>();
  try {
    made->in = instance::attach(std::move(m), "pool", o);
  } catch (const failure& e) {
    checked_code("open", e.code(), e.what());
    allow_only("open", e.code(), e.what(),
               {SCUTE_E_CORRUPT, SCUTE_E_FORMAT, SCUTE_E_VERSION, SCUTE_E_TRUNCATED});
    return;
  }
  medium_ = medium;
  handle_ = made.release();
  // The C++ interface wants to know the pool's facts, which damage to a zone can prevent.
  scute_info info{};
  info.struct_size = sizeof info;
  if (checked("info", scute_pool_info(handle_, &info)) == SCUTE_OK)
    root_ = std::make_unique<containers>(handle_);
}

bool session::close() {
  if (handle_ == nullptr) return false;
  end();
  scute_pool* const handle = std::exchange(handle_, nullptr);
  medium_ = nullptr;
  if (root_ == nullptr) return checked("close", scute_close(handle)) == SCUTE_OK && !read_only_;
  return root_->close() && !read_only_;
}

// POOL-5: the objects are those of the base image, or the library reports that they are not.
void session::compare(expectation e) {
  if (e == expectation::nothing) return;
  for (const auto& [oid, content] : image_.objects) {
    const std::string name = "object " + std::to_string(oid & 0xffff'ffff'ffffu);
    const void* at = nullptr;
    uint64_t size = 0;
    int code = scute_get_verified(handle_, oid, &at);
    if (code == SCUTE_OK) code = scute_object_info(handle_, oid, &size, nullptr, nullptr);
    if (code != SCUTE_OK) {
      checked("get verified", code);
      if (e == expectation::all_there)
        breach(name + " should have survived damage to one page: " + scute_errormsg());
      allow_only("get verified", code, scute_errormsg(), {SCUTE_E_CORRUPT});
      if (++losses_ >= losses_max) return;
      continue;
    }
    if (size != content.size() || std::memcmp(at, content.data(), size) != 0)
      breach(name + " was given out with other bytes than it had, and nothing said so");
  }
}

// ---- reading ------------------------------------------------------------------------------------

uint64_t session::size_of(uint64_t oid) {
  uint64_t size = 0, usable = 0;
  uint32_t type = 0;
  if (checked("object info", scute_object_info(handle_, oid, &size, &usable, &type)) != SCUTE_OK)
    return 0;
  if (size == 0 || size > usable) breach("an object of impossible size");
  return size;
}

void session::read(uint64_t oid) {
  const void* at = nullptr;
  const int code = checked("get verified", scute_get_verified(handle_, oid, &at));
  if (code == SCUTE_E_CORRUPT) ++losses_;
  if (code == SCUTE_OK) touch(at, size_of(oid));
}

// Enumerates; the end must come.
uint64_t session::walk() {
  oids_.clear();
  scute_oid oid = 0;
  uint64_t steps = 0;
  int code = checked("first", scute_first(handle_, SCUTE_TYPE_ANY, &oid));
  for (; code == SCUTE_OK && oid != 0; ++steps) {
    if (steps > file_size_max / 64) breach("the enumeration of objects does not end");
    if (oids_.size() < 256) oids_.push_back(oid);
    code = checked("next", scute_next(handle_, oid, SCUTE_TYPE_ANY, &oid));
  }
  return steps;
}

void session::look_around() {
  scute_visit_chunks(
      handle_, [](void*, const scute_chunk_info* c) { return c->used > c->slots ? 1 : 0; },
      nullptr);
  const auto& g = handle_->in->s.geo;
  scute_location where{};
  for (uint64_t at = 0; at <= g.file_size; at += 5 * format::page + 96) {
    where.struct_size = sizeof where;
    checked("locate", scute_locate(handle_, at, &where));
  }
  scute_counters counters{};
  counters.struct_size = sizeof counters;
  checked("stats", scute_stats(handle_, &counters));
}

uint64_t session::check(bool repair, uint64_t* lost) {
  end();
  scute_report r{};
  r.struct_size = sizeof r;
  const auto note = [](void*, const char* what, uint64_t, uint64_t, scute_oid, int) {
    touch(what, std::strlen(what));
  };
  if (checked("check", scute_check(handle_, repair ? 1 : 0, &r, note, nullptr, nullptr)) !=
      SCUTE_OK) {
    if (lost != nullptr) *lost = 1;
    return 1;
  }
  if (r.repaired + r.lost > r.damaged) breach("a check repaired or lost more than was damaged");
  if (lost != nullptr) *lost = r.lost;
  return r.damaged;
}

// ---- changing -----------------------------------------------------------------------------------

bool session::begin() {
  return tx_ != nullptr || checked("begin", scute_tx_begin(handle_, &tx_)) == SCUTE_OK;
}
void session::end() {
  if (scute_tx* const t = std::exchange(tx_, nullptr)) checked("commit", scute_tx_commit(t));
}

void session::change_containers(uint32_t how, uint32_t value) {
  if (root_ == nullptr || image_.root == 0 || read_only_) return;
  end();
  root_->change(how, value);
}

// One of each call.
void session::transact() {
  if (!begin()) return;
  scute_oid fresh = 0;
  void* to = nullptr;
  for (const uint64_t size : {40, 3000, 17000})
    if (checked("alloc", scute_tx_alloc(tx_, size, type_plain, &fresh, &to)) == SCUTE_OK)
      std::memset(to, 5, size);
  if (!oids_.empty()) {
    const uint64_t first = oids_.front(), last = oids_.back();
    const uint64_t size = size_of(first), size_last = size_of(last);
    if (checked("open", scute_tx_open(tx_, first, &to)) == SCUTE_OK && size != 0)
      static_cast<unsigned char*>(to)[size - 1] ^= 1;
    if (size_last > 1 &&
        checked("in place", scute_tx_inplace(tx_, last, 1, size_last - 1, &to)) == SCUTE_OK)
      std::memset(to, 9, size_last - 1);
    checked("free", scute_tx_free(tx_, oids_[oids_.size() / 2]));
  }
  end();
}

void session::revisit() {
  end();
  walk();
  for (const uint64_t oid : std::vector<uint64_t>(oids_)) {
    if (losses_ >= losses_max) break;
    read(oid);
  }
  if (root_ != nullptr && image_.root != 0) root_->read();
  check(false, nullptr);
}

void session::exercise() {
  revisit();
  look_around();
  if (!read_only_) {
    uint64_t lost = 0;
    check(true, &lost);
    if (lost == 0 && check(false, nullptr) != 0)
      breach("a check that repaired everything left something to find");
    transact();
    change_containers(containers::change_many, 5);
  }
  walk();
}

void session::run(const action& a) {
  const uint64_t oid = pick(a.object);
  void* to = nullptr;
  const void* from = nullptr;
  switch (a.what) {
    case action_kind::begin_or_commit:
      if (tx_ != nullptr)
        end();
      else
        begin();
      break;
    case action_kind::abort:
      if (scute_tx* const t = std::exchange(tx_, nullptr)) checked("abort", scute_tx_abort(t));
      break;
    case action_kind::alloc: {
      scute_oid fresh = 0;
      const uint64_t size = (a.small & 1) != 0 ? a.value % 200000 : a.value % 4096;
      if (begin() &&
          checked("alloc", scute_tx_alloc(tx_, size, a.value % 9, &fresh, &to)) == SCUTE_OK) {
        std::memset(to, a.object, size);
        oids_.push_back(fresh);
      }
      break;
    }
    case action_kind::free:
      if (begin()) checked("free", scute_tx_free(tx_, oid));
      break;
    case action_kind::open:
      if (begin() && checked("open", scute_tx_open(tx_, oid, &to)) == SCUTE_OK)
        if (const uint64_t n = size_of(oid)) static_cast<unsigned char*>(to)[a.small % n] ^= 1;
      break;
    case action_kind::add_range:
    case action_kind::in_place: {
      const uint64_t n = a.value % 10000;
      if (!begin()) break;
      const bool range = a.what == action_kind::add_range;
      const int code = range ? scute_tx_add_range(tx_, oid, a.small, n, &to)
                             : scute_tx_inplace(tx_, oid, a.small, n, &to);
      if (checked(range ? "add range" : "in place", code) == SCUTE_OK)
        std::memset(to, static_cast<int>(a.value >> 24), n);
      break;
    }
    case action_kind::get_range:
      if (begin() && checked("get range", scute_tx_get_range(tx_, oid, a.small, a.value % 20000,
                                                             &from)) == SCUTE_OK)
        touch(from, a.value % 20000);
      if (tx_ != nullptr) checked("get", scute_tx_get(tx_, oid, &from));
      break;
    case action_kind::get_verified: read(oid); break;
    case action_kind::object_update: {
      end();
      if (checked("object open", scute_obj_open(handle_, oid, &to)) != SCUTE_OK) break;
      if (const uint64_t n = size_of(oid)) static_cast<unsigned char*>(to)[a.small % n] ^= 1;
      checked("object commit", scute_obj_commit(to));
      break;
    }
    case action_kind::root: {
      end();
      scute_oid found = 0;
      checked("root", scute_root(handle_, a.value % 3000, 3, &found));
      break;
    }
    case action_kind::locate: {
      scute_location where{};
      where.struct_size = sizeof where;
      checked("locate", scute_locate(handle_, a.value % locate_max, &where));
      break;
    }
    case action_kind::inspect:
      end();
      walk();
      look_around();
      break;
    case action_kind::check: check((a.small & 1) != 0 && !read_only_, nullptr); break;
    case action_kind::container: change_containers(a.object, a.value); break;
    case action_kind::wild_oid: {
      const auto& b = image_.boundaries;
      uint64_t wild = b[a.value % b.size()] + a.small;
      if ((a.object & 1) != 0) wild = (wild & 0xffff'ffff'ffffu) | image_.s->oid_tag;
      read(wild);
      scute_oid next = 0;
      checked("next", scute_next(handle_, wild, SCUTE_TYPE_ANY, &next));
      if (begin() && checked("open", scute_tx_open(tx_, wild, &to)) == SCUTE_OK) touch(to, 1);
      if (scute_get(handle_, wild) == nullptr) checked("get", SCUTE_E_OID);
      break;
    }
    case action_kind::reopen:
    case action_kind::crash: break;  // ends the session: see run.cpp
  }
}

}  // namespace scute::fuzz
