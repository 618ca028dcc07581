// SPDX-License-Identifier: BSD-3-Clause
#include "pow/store.hpp"

#include <algorithm>
#include <cstring>
#include <system_error>
#include <utility>

namespace scute::core::pow {
namespace {

log::segment_layout layout_of(const file_head& h) {
  const auto how = h.protect == static_cast<uint32_t>(protection::always)
                       ? log::redundancy::tracks
                       : log::redundancy::one_copy;
  const bool sealed = h.protect == static_cast<uint32_t>(protection::sealed);
  return {how, h.segment_size, true, sealed ? lines_kept_for_seals : 0};
}

const char* name_of(protection p) {
  return p == protection::none ? "none" : p == protection::sealed ? "sealed" : "always";
}

// Called before anything is written.
void refuse_other(const file_head& h, const std::string& name, const store_options& w,
                  bool read_only) {
  const demand& asked = w.asked;
  const auto refuse = [&](const std::string& has, const std::string& instead) {
    throw failure(SCUTE_E_INVALID, name + " has " + has + ", and " + instead +
                                       " was asked for: leave that option at its default to open "
                                       "the file as it is, or copy its objects to a new file");
  };
  const auto protect = static_cast<protection>(h.protect);
  if (asked.protect && *asked.protect != protect)
    refuse(std::string("protection ") + name_of(protect), name_of(*asked.protect));
  if (asked.segment_size != 0 && asked.segment_size != h.segment_size)
    refuse("segments of " + std::to_string(h.segment_size) + " bytes",
           std::to_string(asked.segment_size));
  const uint64_t size = first_segment + h.segments * h.segment_size;
  if (asked.size_most != 0 && asked.size_most < size && !read_only)
    refuse(std::to_string(size) + " bytes", "a max_size of " + std::to_string(w.limit.max_size));
}

uint64_t most_segments(const file_head& h, uint64_t max_size) {
  const uint64_t most = max_size <= first_segment ? 0 : (max_size - first_segment) / h.segment_size;
  return std::min(most, segments_max(h.segment_size));
}

}  // namespace

uint32_t store::catalogue::measure(uint64_t index) {
  return static_cast<uint32_t>(sizeof(catalogue_record) +
                               s.table_at(static_cast<uint32_t>(index)).name.size());
}
void store::catalogue::encode(uint64_t index, std::byte* to, uint32_t) {
  const table& t = s.table_at(static_cast<uint32_t>(index));
  const catalogue_record r{t.type, t.size};
  std::memcpy(to, &r, sizeof r);
  std::memcpy(to + sizeof r, t.name.data(), t.name.size());
}
void store::catalogue::load(uint64_t index, uint32_t, const std::byte* bytes, uint32_t n) {
  catalogue_record r;
  if (n <= sizeof r || index == 0 || index >= tables_max)
    throw failure(SCUTE_E_CORRUPT, "the list of tables of " + s.name + " is inconsistent");
  std::memcpy(&r, bytes, sizeof r);
  table& t = s.add_table(static_cast<uint32_t>(index));
  t.type = r.type;
  t.size = r.size;
  t.name.assign(reinterpret_cast<const char*>(bytes) + sizeof r, n - sizeof r);
}

store::store(std::unique_ptr<medium::medium> m, const std::string& name, const store_options& w)
    : s_(std::move(m), name, w.limit), catalogue_(s_) {
  // Without a background cleaner, or with a limited rate, no section has to clean.
  if (w.background && w.clean_rate == 0) s_.limit.bounded = true;
}

void store::set_up(const store_options& w) {
  const file_head& h = s_.head;
  s_.salt = salt_of(h);
  s_.layout = layout_of(h);
  s_.space = std::make_unique<space>(s_.layout, h.segment_size, h.segments,
                                     most_segments(h, w.limit.max_size));
  if (h.protect != static_cast<uint32_t>(protection::sealed)) return;
  seals_ = std::make_unique<seals>(s_);
  s_.groups = seals_.get();
}

std::unique_ptr<store> store::create(std::unique_ptr<medium::medium> m, const std::string& name,
                                     const shape& how, const store_options& w) {
  const uint64_t least = how.protect == protection::always   ? tracks_least
                         : how.protect == protection::sealed ? sealed_least
                                                             : head_page;
  if (how.segment_size < least || how.segment_size % head_page != 0)
    throw failure(SCUTE_E_INVALID, "a segment must have at least " + std::to_string(least) +
                                       " bytes, and a multiple of 4096");
  if (how.segments < 4)
    throw failure(SCUTE_E_INVALID, "a persist-on-write file must have at least 4 segments");
  std::unique_ptr<store> made(new store(std::move(m), name, w));
  state& s = made->s_;
  file_head& h = s.head;
  std::memcpy(h.magic, file_magic, sizeof h.magic);
  h.version = file_version;
  std::memcpy(h.uuid, how.uuid, sizeof h.uuid);
  h.session = 1;
  h.tags = tag_of_none;
  h.tags_session = 1;
  s.set_tags(h.tags);
  h.segment_size = how.segment_size;
  h.segments = how.segments;
  h.protect = static_cast<uint32_t>(how.protect);
  made->set_up(w);
  medium::writer out(*s.medium);
  for (uint32_t i = 0; i < how.segments; ++i) s.store_void_head(out, i);
  out.fence(fence_site::pow_create);
  write_head(out, h);
  s.refuse_if_failed();
  for (uint32_t i = 0; i < how.segments; ++i)
    s.space->give(static_cast<uint32_t>(how.segments) - 1 - i);
  s.add_table(catalogue_table);
  made->load_catalogue();
  if (w.background) made->begin_background(w.clean_rate);
  return made;
}

std::unique_ptr<store> store::open(std::unique_ptr<medium::medium> m, const std::string& name,
                                   uint64_t file_size, const store_options& w) {
  std::unique_ptr<store> made(new store(std::move(m), name, w));
  state& s = made->s_;
  uint32_t damaged = 0;
  s.head =
      read_head(*s.medium, file_size, name, damaged, w.recovery.salvage ? w.limit.max_size : 0);
  refuse_other(s.head, name, w, s.read_only);
  made->clean_ = s.head.clean != 0;
  if (!made->clean_) s.medium->refresh();
  made->set_up(w);
  recovery_options how = w.recovery;
  how.cut_at = made->lengthen(file_size);
  made->report_ = recover(s, how);
  made->report_.repaired += damaged;
  made->load_catalogue();
  if (w.background) made->begin_background(w.clean_rate);
  return made;
}

// Extends a file that was cut with zeros, in which recovery finds what is lost. Returns where it
// ended; UINT64_MAX: where it should.
uint64_t store::lengthen(uint64_t file_size) {
  const uint64_t end = first_segment + s_.head.segments * s_.head.segment_size;
  if (file_size >= end) return UINT64_MAX;
  if (s_.read_only)
    s_.file_end = file_size;
  else if (const int e = s_.medium->grow(file_size, end - file_size); e != 0)
    throw_errno("give " + s_.name + " the " + std::to_string(end) + " bytes back that it had", e);
  return file_size;
}

void store::load_catalogue() {
  cleaner_ = std::make_unique<cleaner>(s_);
  s_.clean_one = &store::clean_for_room;
  s_.cleans = cleaner_.get();
  table& t = s_.table_at(catalogue_table);
  t.name = "tables";
  t.chooses = true;
  load(t, catalogue_);
}

store::~store() {
  end_background();
}

// ---- tables -------------------------------------------------------------------------------------

void store::load(table& t, serializer& k) {
  std::vector<std::byte> bytes;
  for (uint64_t i = 0; i < t.high(); ++i) {
    const entry* const e = t.find(i);
    const uint32_t marks = e == nullptr ? 0 : e->state.load(std::memory_order_relaxed);
    if ((marks & entry_live) == 0) continue;
    if (t.size != 0 && e->bytes() != t.size)
      throw failure(SCUTE_E_CORRUPT, "object " + std::to_string(i) + " of table " + t.name +
                                         " has " + std::to_string(e->bytes()) + " bytes, not " +
                                         std::to_string(t.size));
    bytes.resize(e->bytes());
    s_.read_record(*t.found->find(i), bytes.data(), e->bytes());
    k.load(i, tag_of(marks), bytes.data(), static_cast<uint32_t>(bytes.size()));
  }
  t.serialized_by = &k;
  t.found.reset();
}

// Loads a table that had a serializer before. The places of its objects are no longer known, so
// this reads all segments. (No section changes the table meanwhile. Threads that write other tables
// append after the records that this searches for.)
void store::load_again(table& t, serializer& k) {
  const auto counts = [&](uint64_t index) {
    const entry* const e = t.find(index);
    return e != nullptr && (e->state.load(std::memory_order_relaxed) & entry_live) != 0 ? e
                                                                                        : nullptr;
  };
  uint64_t left = 0;
  for (uint64_t i = 0; i < t.high(); ++i) left += counts(i) != nullptr;
  log::segment_reader reader(s_.layout, s_.salt, [&](uint64_t offset, std::byte* to, size_t n) {
    return s_.read_segment(offset, to, n);
  });
  for (uint32_t i = 0; i < s_.space->count() && left != 0; ++i) {
    const use what = s_.space->note(i).what.load(std::memory_order_acquire);
    if (what == use::free || what == use::seal) continue;
    reader.read(s_.space->place(i), [&](const log::frame& f) {
      frame_view v;
      if (!parse(f, v) || v.kind == frame_kind::mark) return;
      for_each_record(v, [&](const record& r) {
        const entry* const e = r.table != t.number || r.tombstone ? nullptr : counts(r.index());
        if (e == nullptr || e->version.load(std::memory_order_relaxed) != r.version ||
            e->segment != i)
          return;
        k.load(r.index(), static_cast<uint32_t>(r.id >> 48), f.lines.data() + r.offset, r.size);
        --left;
      });
    });
  }
  if (left != 0)
    throw failure(SCUTE_E_CORRUPT, std::to_string(left) + " objects of table " + t.name +
                                       " cannot be read; close " + s_.name + " and open it again");
  t.serialized_by = &k;
}

table& store::attach(const std::string& name, uint32_t type, uint32_t size, bool chooses,
                     serializer& k, std::span<const uint32_t> earlier, bool recurs) {
  if (section::of_thread(s_) != nullptr)
    throw failure(SCUTE_E_INVALID,
                  "table " + name + " cannot be opened inside a section; end that first");
  if (name.empty() || name.size() > 255)
    throw failure(SCUTE_E_INVALID, "the name of a table has 1 to 255 bytes");
  const locked guard(names_lock_);
  uint32_t free_number = 0;
  for (uint32_t number = tables_max - 1; number != 0; --number) {
    table* const t = s_.find_table(number);
    if (t == nullptr || t->name.empty()) {
      if (t == nullptr) free_number = number;
      continue;
    }
    if (t->name != name) continue;
    const bool was_earlier =
        t->type != type && std::ranges::find(earlier, t->type) != earlier.end();
    if ((t->type != type && !was_earlier) || t->size != size)
      throw failure(SCUTE_E_TYPE, "table " + name + " of " + s_.name + " has objects of type " +
                                      std::to_string(t->type) + " and size " +
                                      std::to_string(t->size) + ", not " + std::to_string(type) +
                                      " and " + std::to_string(size));
    {
      const locked cleaning(s_.clean_lock);  // nothing moves meanwhile
      if (t->serialized_by != nullptr)
        throw failure(SCUTE_E_BUSY, "table " + name + " of " + s_.name + " is open already");
      t->chooses = chooses;
      t->recurs = recurs;
      t->found == nullptr ? load_again(*t, k) : load(*t, k);
    }
    if (was_earlier) renumber(*t, type);
    return *t;
  }
  if (free_number == 0)
    throw failure(SCUTE_E_NOSPC, s_.name + " already has the largest possible number of tables");
  table& t = s_.add_table(free_number);
  t.name = name;
  t.type = type;
  t.size = size;
  t.chooses = chooses;
  t.recurs = recurs;
  try {
    section one(s_, durability::strict);
    one.insert(s_.table_at(catalogue_table), free_number);
    one.commit();
  } catch (...) {
    t.name.clear();
    throw;
  }
  t.serialized_by = &k;
  t.found.reset();
  return t;
}

// From now on a caller that mistakes the type of the objects is refused. If this fails, perhaps for
// lack of room, the next opening does it.
void store::renumber(table& t, uint32_t type) noexcept {
  if (s_.read_only) return;
  const uint32_t was = std::exchange(t.type, type);
  try {
    section one(s_, durability::strict);
    one.edit(s_.table_at(catalogue_table), t.number, section::any_tag);
    one.commit();
  } catch (const std::exception&) {
    t.type = was;
  }
}

void store::detach(table& t) noexcept {
  if (section* const open = section::of_thread(s_); open != nullptr && open->changes(t))
    open->give_up();
  const locked guard(s_.clean_lock);  // check() asks serializers
  t.serialized_by = nullptr;
}

void store::sync() {
  if (s_.read_only) return;
  // Inside a section this thread has its slot already; another slot would not know which batches
  // the thread has seen.
  if (const section* const open = section::of_thread(s_)) {
    s_.sync(s_.writer_of(open->where()));
    return;
  }
  s_.sync_outside();
}

check_report store::check(bool repair, bool compare, const progress_fn& progress) {
  if (repair) refuse_if_read_only();
  if (section::of_thread(s_) != nullptr)
    throw failure(SCUTE_E_INVALID,
                  "this thread has a section of " + s_.name + " open; end it before the check");
  // Running sections would look like losses: the records that they replace are still in place, or
  // their new ones are missing.
  const state::pause still(s_);
  const locked guard(s_.clean_lock);
  return check_file(s_, {repair, compare, progress});
}

void store::refuse_if_read_only() const {
  if (s_.read_only)
    throw failure(SCUTE_E_READONLY,
                  s_.name + " is open read-only, so nothing in it can be changed");
}

}  // namespace scute::core::pow
