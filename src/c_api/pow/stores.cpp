// SPDX-License-Identifier: BSD-3-Clause
#include "scute/pow.h"

#include <algorithm>
#include <memory>
#include <span>
#include <thread>

#include "c_api/pool/guard.hpp"
#include "c_api/pow/handles.hpp"
#include "pow/file/file.hpp"

using namespace scute::core;
using c_api::need_out;

namespace scute::core::c_api {

scute_pow& need(scute_pow* store) {
  if (store == nullptr) throw failure(SCUTE_E_INVALID, "the store handle is null");
  return *store;
}

pow::section& need(scute_pow_section* section) {
  auto* const s = reinterpret_cast<pow::section*>(section);
  if (s == nullptr || !pow::section::is_of_thread(s))
    throw failure(SCUTE_E_NOTX,
                  "this thread has no such section open; it has ended, belongs to another thread, "
                  "or was never begun (scute_pow_begin)");
  return *s;
}

scute_pow_table& need(scute_pow_table* table) {
  if (table == nullptr) throw failure(SCUTE_E_INVALID, "the table handle is null");
  return *table;
}

namespace {

pow::table& of_section(scute_pow_table* handle, const pow::section& s) {
  scute_pow_table& t = need(handle);
  if (t.owner->parts.load(std::memory_order_acquire) != &s.parts())
    throw failure(SCUTE_E_INVALID,
                  "the table is of another store than the section, or its store is closed");
  return *t.in;
}

constexpr uint64_t default_max_size = uint64_t{4} << 30, default_segment_size = 256 * 1024;

scute_pow_options normalise(const scute_pow_options* given) {
  scute_pow_options o;
  scute_pow_options_init(&o);
  if (given == nullptr) return o;
  if (given->struct_size < offsetof(scute_pow_options, progress) ||
      given->struct_size > size_t{4} * sizeof o)
    throw failure(SCUTE_E_INVALID,
                  "options->struct_size is not set; call scute_pow_options_init() on them first");
  std::memcpy(&o, given, std::min(given->struct_size, sizeof o));
  constexpr uint32_t known = SCUTE_POW_SALVAGE | SCUTE_POW_NO_CLEANER | SCUTE_POW_EXISTING |
                             SCUTE_POW_NEW | SCUTE_POW_READONLY | SCUTE_POW_WATCH_LOCKS;
  if ((o.flags & ~known) != 0) throw failure(SCUTE_E_INVALID, "options->flags has unknown bits");
  if ((o.flags & SCUTE_POW_EXISTING) != 0 && (o.flags & SCUTE_POW_NEW) != 0)
    throw failure(SCUTE_E_INVALID, "SCUTE_POW_EXISTING and SCUTE_POW_NEW exclude each other");
  if ((o.flags & SCUTE_POW_READONLY) != 0 && (o.flags & SCUTE_POW_NEW) != 0)
    throw failure(SCUTE_E_INVALID, "SCUTE_POW_READONLY and SCUTE_POW_NEW exclude each other");
  if (o.mode > 0777) throw failure(SCUTE_E_INVALID, "options->mode is not permission bits");
  if (o.medium < SCUTE_MEDIUM_AUTO || o.medium > SCUTE_MEDIUM_RAM)
    throw failure(SCUTE_E_INVALID, "options->medium must be auto, dax, file or ram");
  if (o.protection < SCUTE_POW_NONE || o.protection > SCUTE_POW_DEFAULT)
    throw failure(SCUTE_E_INVALID, "options->protection must be none, sealed, always or default");
  if (!(o.max_live_share >= 0.1 && o.max_live_share <= 0.9))
    throw failure(SCUTE_E_INVALID, "options->max_live_share must be between 0.1 and 0.9");
  if (o.segment_size == 0 || o.segment_size > (uint64_t{1} << 30))
    throw failure(SCUTE_E_INVALID, "options->segment_size must be 1 GiB at most");
  if (o.size > o.max_size || o.max_size > SCUTE_SIZE_MAX)
    throw failure(SCUTE_E_INVALID,
                  "options->max_size must not be less than size, nor more than SCUTE_SIZE_MAX");
  return o;
}

pow::progress_fn progress_of(const scute_pow_options& o, const char* what) {
  if (o.progress == nullptr) return {};
  return [fn = o.progress, arg = o.progress_arg, what](uint64_t done, uint64_t total) {
    fn(arg, what, done, total);
  };
}

pow::file_options file_options_of(const scute_pow_options& o) {
  pow::file_options w;
  w.medium = o.medium;
  w.mode = o.mode;
  w.read_only = (o.flags & SCUTE_POW_READONLY) != 0;
  w.may_create = (o.flags & SCUTE_POW_EXISTING) == 0 && !w.read_only;
  w.may_exist = (o.flags & SCUTE_POW_NEW) == 0;
  w.fresh.segment_size = o.segment_size;
  w.fresh.segments = std::max(pow::segments_least, o.size / o.segment_size);
  if (o.protection != SCUTE_POW_DEFAULT) {
    w.fresh.protect = static_cast<pow::protection>(o.protection);
    w.how.asked.protect = w.fresh.protect;
  }
  // A new file of `size` may be a little larger.
  const uint64_t made = pow::first_segment + w.fresh.segments * o.segment_size;
  if (o.max_size != default_max_size) w.how.asked.size_most = std::max(o.max_size, made);
  if (o.segment_size != default_segment_size) w.how.asked.segment_size = o.segment_size;
  w.how.limit.watch_locks = (o.flags & SCUTE_POW_WATCH_LOCKS) != 0;
  w.how.limit.max_size = o.max_size;
  w.how.limit.max_memory = o.max_memory;
  w.how.limit.max_live_share = o.max_live_share;
  w.how.background = (o.flags & SCUTE_POW_NO_CLEANER) == 0;
  w.how.clean_rate = o.clean_rate;
  w.how.recovery.salvage = (o.flags & SCUTE_POW_SALVAGE) != 0;
  w.how.recovery.threads =
      o.threads != 0 ? o.threads : std::clamp(std::thread::hardware_concurrency(), 1U, 8U);
  w.how.recovery.progress = progress_of(o, "recovery");
  return w;
}

class c_serializer final : public pow::serializer {
 public:
  explicit c_serializer(const scute_pow_serializer& k) : k_(k) {}
  uint32_t measure(uint64_t index) override {
    const int64_t n = k_.measure(k_.arg, index);
    if (n < 0)
      throw failure(
          static_cast<scute_error>(n),
          "the serializer of a table cannot say how large object " + std::to_string(index) + " is");
    return static_cast<uint32_t>(std::min<int64_t>(n, UINT32_MAX));
  }
  void encode(uint64_t index, std::byte* to, uint32_t size) override {
    if (k_.write == nullptr) return k_.encode(k_.arg, index, to);
    if (const int e = k_.write(k_.arg, index, to, size); e < 0) [[unlikely]]
      throw failure(static_cast<scute_error>(e),
                    "the serializer of a table does not write object " + std::to_string(index) +
                        " as it has measured it");
  }
  void load(uint64_t index, uint32_t tag, const std::byte* bytes, uint32_t n) override {
    const int e = k_.load(k_.arg, pow::make_id(index, tag), bytes, n);
    if (e < 0)
      throw failure(static_cast<scute_error>(e),
                    "the serializer of a table refuses object " + std::to_string(index));
  }

 private:
  scute_pow_serializer k_;
};

void report_details(const pow::damage_note& d, scute_pow_details_fn report, void* arg) {
  if (report == nullptr) return;
  std::vector<scute_pow_damage_range> ranges;
  for (const pow::damage_range& r : d.objects)
    ranges.push_back(
        {sizeof(scute_pow_damage_range), r.name.c_str(), r.table, r.first, r.last, r.records});
  const scute_pow_damage details{sizeof details, d.text.c_str(), d.lost,  d.segment,
                                 d.lane,         d.session,      d.first, d.last,
                                 ranges.data(),  ranges.size()};
  report(arg, &details);
}

template <typename Fn>
int check_with(scute_pow* store, uint32_t flags, uint64_t* lost, Fn&& report) noexcept {
  return guarded_pow(store, [&] {
    if ((flags & ~uint32_t{SCUTE_POW_REPAIR | SCUTE_POW_COMPARE}) != 0)
      throw failure(SCUTE_E_INVALID, "the flags of scute_pow_check() have unknown bits");
    const auto r = need(store).in->check((flags & SCUTE_POW_REPAIR) != 0,
                                         (flags & SCUTE_POW_COMPARE) != 0, store->check_progress);
    uint64_t n = r.changed.size();
    for (const auto& d : r.damage) {
      n += d.lost;
      report(d);
    }
    for (const auto& d : r.changed) report(d);
    if (lost != nullptr) *lost = n;
  });
}

scute_pow_table& attach(scute_pow& p, const char* name, uint32_t type, uint32_t size, bool chooses,
                        std::unique_ptr<pow::serializer> k, std::span<const uint32_t> earlier_types,
                        bool recurs) {
  auto t = std::make_unique<scute_pow_table>();
  t->owner = &p;
  t->serializer = std::move(k);
  t->in = &p.in->attach(name, type, size, chooses, *t->serializer, earlier_types, recurs);
  pow::table& in = *t->in;
  return list(p, p.tables, std::move(t), in);
}

void detach(scute_pow_table& t) {
  scute_pow& p = *t.owner;
  p.in->detach(*t.in);
  const locked guard(p.lock);
  std::erase_if(p.tables, [&](const auto& one) { return one.get() == &t; });
}

}  // namespace
}  // namespace scute::core::c_api

using namespace scute::core::c_api;

extern "C" {

void scute_pow_options_init(scute_pow_options* options) {
  if (options == nullptr) return;
  *options = scute_pow_options{};
  options->struct_size = sizeof *options;
  options->size = uint64_t{4} << 20;
  options->max_size = default_max_size;
  options->segment_size = default_segment_size;
  options->protection = SCUTE_POW_DEFAULT;
  options->mode = 0600;
  options->max_live_share = 0.5;
}

int scute_pow_open(const char* path, const scute_pow_options* options, scute_pow** store) {
  const uncancelled now;
  return guarded([&] {
    if (need_out(path, "path") == '\0') throw failure(SCUTE_E_NOENT, "the path is empty");
    need_out(store, "store");
    const scute_pow_options o = normalise(options);
    auto p = std::make_unique<scute_pow>();
    p->in = pow::open_file(path, file_options_of(o));
    p->parts.store(&p->in->parts(), std::memory_order_relaxed);
    p->check_progress = progress_of(o, "check");
    p->compact_progress = progress_of(o, "compact");
    for (const auto& d : p->in->recovered().damage) {
      if (o.damage != nullptr) o.damage(o.damage_arg, d.text.c_str(), d.lost);
      report_details(d, o.details, o.details_arg);
    }
    *store = p.release();
  });
}

int scute_pow_sync(scute_pow* store) {
  return guarded_pow(store, [&] { need(store).in->sync(); });
}

int scute_pow_clean(scute_pow* store, uint64_t segments, uint64_t* done) {
  return guarded_pow(store, [&] {
    const uint64_t n = need(store).in->clean(segments);
    if (done != nullptr) *done = n;
  });
}

int scute_pow_compact(scute_pow* store) {
  return guarded_pow(store, [&] { need(store).in->compact(store->compact_progress); });
}

int scute_pow_check(scute_pow* store, uint32_t flags, scute_pow_damage_fn report, void* arg,
                    uint64_t* lost) {
  return check_with(store, flags, lost, [&](const pow::damage_note& d) {
    if (report != nullptr) report(arg, d.text.c_str(), d.lost);
  });
}

int scute_pow_check_details(scute_pow* store, uint32_t flags, scute_pow_details_fn report,
                            void* arg, uint64_t* lost) {
  return check_with(store, flags, lost,
                    [&](const pow::damage_note& d) { report_details(d, report, arg); });
}

int scute_pow_table_open(scute_pow* store, const char* name, const scute_pow_serializer* serializer,
                         scute_pow_table** table) {
  return guarded_pow(store, [&] {
    scute_pow& p = need(store);
    need_out(name, "name");
    const scute_pow_serializer& given = need_out(serializer, "serializer");
    need_out(table, "table");
    if (given.struct_size < offsetof(scute_pow_serializer, write) ||
        given.struct_size > sizeof given)
      throw failure(SCUTE_E_INVALID, "serializer->struct_size is not sizeof(scute_pow_serializer)");
    scute_pow_serializer k{};
    std::memcpy(&k, &given, given.struct_size);
    if ((k.encode == nullptr && k.write == nullptr) || k.load == nullptr ||
        (k.size == 0 && k.measure == nullptr))
      throw failure(SCUTE_E_INVALID, "a function of the serializer is null");
    if (k.earlier_count != 0 && k.earlier_types == nullptr)
      throw failure(SCUTE_E_INVALID, "serializer->earlier_types is null");
    *table =
        &attach(p, name, k.type, k.size, k.chooses_indexes != 0, std::make_unique<c_serializer>(k),
                {k.earlier_types, k.earlier_count}, k.ids_may_recur != 0);
  });
}

int scute_pow_table_close(scute_pow_table* table) {
  if (table == nullptr) return SCUTE_OK;
  SCUTE_ASSERT(table->owner != nullptr);
  return guarded_pow(table->owner, [&] { detach(*table); });
}

int scute_pow_begin(scute_pow* store, enum scute_pow_durability how, scute_pow_section** section) {
  return guarded_short(store, [&] {
    scute_pow& p = need(store);
    need_out(section, "section");
    if (how != SCUTE_POW_STRICT && how != SCUTE_POW_LATER)
      throw failure(SCUTE_E_INVALID, "a section must be strict or later");
    pow::state& s = p.in->parts();
    s.refuse_if_failed();
    pow::section* one = pow::section::of_thread(s);
    if (one != nullptr)
      one->enter();
    else
      one = &pow::section::begin(
          s, how == SCUTE_POW_LATER ? pow::durability::later : pow::durability::strict);
    *section = reinterpret_cast<scute_pow_section*>(one);
  });
}

int scute_pow_current(scute_pow* store, scute_pow_section** section) {
  if (inherited(store)) return refuse_inherited();
  return guarded([&] {
    // It does not enter: the answer is about this thread, whose section keeps the store open.
    const pow::state* const s = need(store).parts.load(std::memory_order_acquire);
    if (s == nullptr) throw failure(SCUTE_E_INVALID, closed_message);
    pow::section* const one = pow::section::of_thread(*s);
    need_out(section, "section");
    if (one == nullptr)
      throw failure(SCUTE_E_NOTX,
                    "nothing can be changed outside of a section; begin one with the "
                    "locks that guard it (scute_pow_begin, store::section)");
    *section = reinterpret_cast<scute_pow_section*>(one);
  });
}

int scute_pow_lock(scute_pow_section* section, void* lock, void (*unlock)(void* lock), int shared) {
  return guarded_short(section, [&](pow::section& s) {
    if (lock == nullptr) throw failure(SCUTE_E_INVALID, "lock is null");
    if (unlock == nullptr) throw failure(SCUTE_E_INVALID, "unlock is null");
    s.add_lock(lock, unlock, shared != 0);
  });
}

int scute_pow_new(scute_pow_section* section, scute_pow_table* table, uint64_t index,
                  uint64_t* id) {
  return guarded_short(section, [&](pow::section& s) {
    pow::table& t = of_section(table, s);
    need_out(id, "id");
    if ((index == SCUTE_POW_ANY) == t.chooses)
      throw failure(SCUTE_E_INVALID, t.chooses ? "the serializer of this table chooses indexes"
                                               : "the indexes of this table are not chosen");
    if (index != SCUTE_POW_ANY && index > SCUTE_POW_INDEX_MASK)
      throw failure(SCUTE_E_RANGE, "an index has at most 48 bits");
    const uint64_t i = index == SCUTE_POW_ANY ? s.take_index(t) : index;
    *id = pow::make_id(i, s.insert(t, i));
  });
}

int scute_pow_edit(scute_pow_section* section, scute_pow_table* table, uint64_t id, int* first) {
  return guarded_short(section, [&](pow::section& s) {
    pow::table& t = of_section(table, s);
    const bool is = s.edit(t, id & SCUTE_POW_INDEX_MASK,
                           t.chooses ? pow::section::any_tag : pow::tag_of_id(id));
    if (first != nullptr) *first = is;
  });
}

int scute_pow_erase(scute_pow_section* section, scute_pow_table* table, uint64_t id) {
  return guarded_short(section, [&](pow::section& s) {
    pow::table& t = of_section(table, s);
    s.erase(t, id & SCUTE_POW_INDEX_MASK, t.chooses ? pow::section::any_tag : pow::tag_of_id(id));
  });
}

int scute_pow_take_back(scute_pow_section* section, scute_pow_table* table, uint64_t id) {
  return guarded_short(section, [&](pow::section& s) {
    s.take_back(of_section(table, s), id & SCUTE_POW_INDEX_MASK);
  });
}

int scute_pow_undo(scute_pow_section* section, void (*back)(void*, void*),
                   void (*done)(void*, void*), void* who, void* what) {
  return guarded_short(section, [&](pow::section& s) { s.add_action({back, done, who, what}); });
}

int scute_pow_undo_copy(scute_pow_section* section, void (*back)(void*, void*), void* who,
                        const void* bytes, size_t n) {
  return guarded_short(section, [&](pow::section& s) {
    if (back == nullptr) throw failure(SCUTE_E_INVALID, "back is null");
    need_out(static_cast<const char*>(bytes), "bytes");
    s.add_undo(back, who, bytes, n);
  });
}

int scute_pow_stream(scute_pow_section* section) {
  return guarded_pow(section, [&](pow::section& s) { s.stream(); });
}

int scute_pow_commit(scute_pow_section* section) {
  return guarded_pow(section, [&](pow::section& s) { s.commit(); });
}

int scute_pow_abort(scute_pow_section* section) {
  return guarded_pow(section, [&](pow::section& s) { s.abort(); });
}

}  // extern "C"
