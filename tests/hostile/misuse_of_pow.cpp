// SPDX-License-Identifier: BSD-3-Clause
#include <scute/pow.h>

#include "hostile/misuse_list.hpp"
#include "support/scratch.hpp"

namespace scute::test {
namespace {

using stage = misuse_stage;

// A store with a table, a section and a file of the paper's.
struct open_store {
  open_store() {
    scute_pow_options o;
    scute_pow_options_init(&o);
    o.size = 1 << 20;
    o.max_size = 2 << 20;
    o.segment_size = 40960;
    o.flags = SCUTE_POW_NO_CLEANER;
    SCUTE_OKAY_E(scute_pow_open(path.c_str(), &o, &store));
    serializer.struct_size = sizeof serializer;
    serializer.size = 8;
    serializer.arg = &object;
    serializer.encode = [](void* arg, uint64_t, void* to) { std::memcpy(to, arg, 8); };
    serializer.load = [](void*, uint64_t, const void*, uint32_t) { return 0; };
    SCUTE_OKAY_E(scute_pow_table_open(store, "t", &serializer, &table));
    SCUTE_OKAY_E(scute_pow_alloc(store, "f", 8, &file));
    SCUTE_OKAY_E(scute_pow_begin(store, SCUTE_POW_STRICT, &section));
    SCUTE_OKAY_E(scute_pow_new(section, table, SCUTE_POW_ANY, &id));
    SCUTE_OKAY_E(scute_pow_commit(section));
    SCUTE_OKAY_E(scute_pow_begin(store, SCUTE_POW_STRICT, &section));
  }
  ~open_store() {
    SCUTE_OKAY_E(scute_pow_abort(section));
    uint64_t lost = 1;
    SCUTE_OKAY_E(scute_pow_check(store, SCUTE_POW_COMPARE, nullptr, nullptr, &lost));
    EXPECT_EQ(lost, 0U);
    SCUTE_OKAY_E(scute_pow_close(store));
  }
  // Handles that are none of this thread's sections.
  void for_bad_sections(const std::function<void(scute_pow_section*)>& refused) {
    refused(nullptr);
    refused(reinterpret_cast<scute_pow_section*>(this));
    std::thread([&] { refused(section); }).join();
  }
  scratch folder;
  std::string path = folder.file("s.pow");
  uint64_t object = 7, id = 0;
  scute_pow_serializer serializer{};
  scute_pow* store = nullptr;
  scute_pow_table* table = nullptr;
  scute_pow_file* file = nullptr;
  scute_pow_section* section = nullptr;
};

void pow_options_init(stage&) {
  scute_pow_options_init(nullptr);
}
void pow_open(stage& s) {
  open_store in;
  scute_pow* out = nullptr;
  const std::string other = in.folder.file("other.pow");
  REFUSED(SCUTE_E_INVALID, scute_pow_open(nullptr, nullptr, &out));
  REFUSED(SCUTE_E_NOENT, scute_pow_open("", nullptr, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_open(other.c_str(), nullptr, nullptr));
  REFUSED(SCUTE_E_BUSY, scute_pow_open(in.path.c_str(), nullptr, &out));
  const auto with = [&](int code, const auto& change) {
    scute_pow_options o;
    scute_pow_options_init(&o);
    change(o);
    REFUSED(code, scute_pow_open(other.c_str(), &o, &out));
  };
  with(SCUTE_E_INVALID, [](auto& o) { o.struct_size = 0; });
  with(SCUTE_E_INVALID, [](auto& o) { o.flags = 1U << 30; });
  with(SCUTE_E_INVALID, [](auto& o) { o.flags = SCUTE_POW_NEW | SCUTE_POW_EXISTING; });
  with(SCUTE_E_INVALID, [](auto& o) { o.flags = SCUTE_POW_NEW | SCUTE_POW_READONLY; });
  with(SCUTE_E_NOENT, [](auto& o) { o.flags = SCUTE_POW_READONLY; });
  with(SCUTE_E_INVALID, [](auto& o) { o.mode = 010000; });
  with(SCUTE_E_INVALID, [](auto& o) { o.medium = static_cast<scute_medium>(9); });
  with(SCUTE_E_INVALID, [](auto& o) { o.protection = static_cast<scute_pow_protection>(9); });
  with(SCUTE_E_INVALID, [](auto& o) { o.segment_size = 5000; });
  with(SCUTE_E_INVALID, [](auto& o) { o.segment_size = 0; });
  with(SCUTE_E_INVALID, [](auto& o) { o.max_size = 1; });
  with(SCUTE_E_INVALID, [](auto& o) { o.max_live_share = 2; });
  with(SCUTE_E_INVALID, [](auto& o) {
    o.protection = SCUTE_POW_SEALED;
    o.segment_size = 4096;
  });
  with(SCUTE_E_NOENT, [](auto& o) { o.flags = SCUTE_POW_EXISTING; });
  write_file(other, bytes(100, 'x'));
  REFUSED(SCUTE_E_FORMAT, scute_pow_open(other.c_str(), nullptr, &out));
  with(SCUTE_E_EXISTS, [](auto& o) { o.flags = SCUTE_POW_NEW; });
  EXPECT_EQ(read_file(other), bytes(100, 'x'));
}
void pow_close(stage& s) {
  open_store in;
  EXPECT_EQ(scute_pow_close(nullptr), SCUTE_OK);
  REFUSED(SCUTE_E_INVALID, scute_pow_close(in.store));
  std::thread([&] { REFUSED(SCUTE_E_BUSY, scute_pow_close(in.store)); }).join();
}
void pow_keep(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_pow_keep(nullptr));
}
void pow_drop(stage&) {
  scute_pow_drop(nullptr);
}
void pow_sync(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_pow_sync(nullptr));
}
void pow_clean(stage& s) {
  REFUSED(SCUTE_E_INVALID, scute_pow_clean(nullptr, 1, &s.number));
}
void pow_check(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_check(nullptr, 0, nullptr, nullptr, &s.number));
  REFUSED(SCUTE_E_INVALID, scute_pow_check(in.store, 64, nullptr, nullptr, &s.number));
}
void pow_check_details(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_check_details(nullptr, 0, nullptr, nullptr, &s.number));
  REFUSED(SCUTE_E_INVALID, scute_pow_check_details(in.store, 64, nullptr, nullptr, &s.number));
}
void pow_compact(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_compact(nullptr));
}
void pow_list_tables(stage& s) {
  open_store in;
  const auto fn = [](void*, const scute_pow_table_info*) {};
  REFUSED(SCUTE_E_INVALID, scute_pow_list_tables(nullptr, fn, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_pow_list_tables(in.store, nullptr, nullptr));
}
void pow_list_segments(stage& s) {
  open_store in;
  const auto fn = [](void*, const scute_pow_segment_info*) {};
  REFUSED(SCUTE_E_INVALID, scute_pow_list_segments(nullptr, fn, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_pow_list_segments(in.store, nullptr, nullptr));
}
void pow_get_info(stage& s) {
  open_store in;
  scute_pow_info i{};
  REFUSED(SCUTE_E_INVALID, scute_pow_get_info(in.store, &i));
  REFUSED(SCUTE_E_INVALID, scute_pow_get_info(in.store, nullptr));
  i.struct_size = sizeof i;
  REFUSED(SCUTE_E_INVALID, scute_pow_get_info(nullptr, &i));
}
void pow_table_open(stage& s) {
  open_store in;
  scute_pow_table* out = nullptr;
  REFUSED(SCUTE_E_INVALID,
          scute_pow_table_open(in.store, "u", &in.serializer, &out));  // in a section
  SCUTE_OKAY(scute_pow_abort(in.section));
  const auto with = [&](int code, const char* name, const auto& change) {
    scute_pow_serializer k = in.serializer;
    change(k);
    REFUSED(code, scute_pow_table_open(in.store, name, &k, &out));
  };
  REFUSED(SCUTE_E_INVALID, scute_pow_table_open(nullptr, "u", &in.serializer, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_table_open(in.store, nullptr, &in.serializer, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_table_open(in.store, "u", nullptr, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_table_open(in.store, "u", &in.serializer, nullptr));
  with(SCUTE_E_INVALID, "", [](auto&) {});
  with(SCUTE_E_INVALID, "u", [](auto& k) { k.struct_size = 0; });
  with(SCUTE_E_INVALID, "u", [](auto& k) { k.encode = nullptr; });
  with(SCUTE_E_INVALID, "u", [](auto& k) { k.load = nullptr; });
  with(SCUTE_E_INVALID, "u", [](auto& k) { k.size = 0; });
  with(SCUTE_E_TYPE, "t", [](auto& k) { k.size = 16; });
  with(SCUTE_E_TYPE, "t", [](auto& k) { k.type = 5; });
  with(SCUTE_E_BUSY, "t", [](auto&) {});
  SCUTE_OKAY(scute_pow_begin(in.store, SCUTE_POW_STRICT, &in.section));
}
// When a table is closed, a section's changes in it no longer count, and its serializer is not
// called again.
void pow_table_close(stage& s) {
  open_store in;
  EXPECT_EQ(scute_pow_table_close(nullptr), SCUTE_OK);
  SCUTE_OKAY(scute_pow_edit(in.section, in.table, in.id, nullptr));
  SCUTE_OKAY(scute_pow_table_close(in.table));
  REFUSED(SCUTE_E_ABORTED, scute_pow_commit(in.section));
  SCUTE_OKAY(scute_pow_table_open(in.store, "t", &in.serializer, &in.table));
  REFUSED(SCUTE_E_BUSY, scute_pow_table_open(in.store, "t", &in.serializer, &in.table));
  SCUTE_OKAY(scute_pow_begin(in.store, SCUTE_POW_STRICT, &in.section));
  SCUTE_OKAY(scute_pow_edit(in.section, in.table, in.id, nullptr));
}
void pow_begin(stage& s) {
  open_store in;
  scute_pow_section* out = nullptr;
  REFUSED(SCUTE_E_INVALID, scute_pow_begin(nullptr, SCUTE_POW_STRICT, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_begin(in.store, SCUTE_POW_STRICT, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_pow_begin(in.store, static_cast<scute_pow_durability>(7), &out));
}
void pow_current(stage& s) {
  open_store in;
  scute_pow_section* out = nullptr;
  REFUSED(SCUTE_E_INVALID, scute_pow_current(nullptr, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_current(in.store, nullptr));
  std::thread([&] { REFUSED(SCUTE_E_NOTX, scute_pow_current(in.store, &out)); }).join();
}
void pow_lock(stage& s) {
  open_store in;
  int lock = 0;
  const auto unlock = [](void*) {};
  in.for_bad_sections([&](auto* x) { REFUSED(SCUTE_E_NOTX, scute_pow_lock(x, &lock, unlock, 0)); });
  REFUSED(SCUTE_E_INVALID, scute_pow_lock(in.section, nullptr, unlock, 0));
  REFUSED(SCUTE_E_INVALID, scute_pow_lock(in.section, &lock, nullptr, 0));
}
void pow_new(stage& s) {
  open_store in, other;
  in.for_bad_sections([&](auto* x) {
    REFUSED(SCUTE_E_NOTX, scute_pow_new(x, in.table, SCUTE_POW_ANY, &s.number));
  });
  REFUSED(SCUTE_E_INVALID, scute_pow_new(in.section, nullptr, SCUTE_POW_ANY, &s.number));
  REFUSED(SCUTE_E_INVALID, scute_pow_new(in.section, in.table, 5, &s.number));
  REFUSED(SCUTE_E_INVALID, scute_pow_new(in.section, in.table, SCUTE_POW_ANY, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_pow_new(in.section, other.table, SCUTE_POW_ANY, &s.number));
}
void bad_ids(stage& s,
             const std::function<int(scute_pow_section*, scute_pow_table*, uint64_t)>& f) {
  open_store in, other;
  in.for_bad_sections([&](auto* x) { REFUSED(SCUTE_E_NOTX, f(x, in.table, in.id)); });
  REFUSED(SCUTE_E_INVALID, f(in.section, nullptr, in.id));
  REFUSED(SCUTE_E_INVALID, f(in.section, other.table, in.id));
  for (const uint64_t bad : {uint64_t{0}, in.id + 1, UINT64_MAX, in.id ^ uint64_t{1} << 50})
    REFUSED(SCUTE_E_FREED, f(in.section, in.table, bad));
  SCUTE_OKAY(scute_pow_edit(in.section, in.table, in.id, nullptr));
  std::thread([&] {
    scute_pow_section* x = nullptr;
    SCUTE_OKAY(scute_pow_begin(in.store, SCUTE_POW_STRICT, &x));
    REFUSED(SCUTE_E_CONFLICT, f(x, in.table, in.id));
    SCUTE_OKAY(scute_pow_abort(x));
  }).join();
}
void pow_edit(stage& s) {
  bad_ids(s, [](auto* x, auto* t, uint64_t id) { return scute_pow_edit(x, t, id, nullptr); });
}
void pow_erase(stage& s) {
  bad_ids(s, [](auto* x, auto* t, uint64_t id) { return scute_pow_erase(x, t, id); });
}
void pow_undo(stage& s) {
  open_store in;
  in.for_bad_sections([&](auto* x) {
    REFUSED(SCUTE_E_NOTX, scute_pow_undo(x, nullptr, nullptr, nullptr, nullptr));
  });
}
void pow_undo_copy(stage& s) {
  open_store in;
  in.for_bad_sections([&](auto* x) {
    REFUSED(SCUTE_E_NOTX, scute_pow_undo_copy(x, nullptr, nullptr, nullptr, 0));
  });
}
void pow_take_back(stage& s) {
  open_store in;
  in.for_bad_sections([&](auto* x) { REFUSED(SCUTE_E_NOTX, scute_pow_take_back(x, nullptr, 0)); });
}
void pow_stream(stage& s) {
  open_store in;
  in.for_bad_sections([&](auto* x) { REFUSED(SCUTE_E_NOTX, scute_pow_stream(x)); });
}
void pow_commit(stage& s) {
  open_store in;
  in.for_bad_sections([&](auto* x) { REFUSED(SCUTE_E_NOTX, scute_pow_commit(x)); });
}
void pow_abort(stage& s) {
  open_store in;
  in.for_bad_sections([&](auto* x) { REFUSED(SCUTE_E_NOTX, scute_pow_abort(x)); });
}
void pow_alloc(stage& s) {
  open_store in;
  scute_pow_file* out = nullptr;
  REFUSED(SCUTE_E_INVALID, scute_pow_alloc(nullptr, "g", 8, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_alloc(in.store, nullptr, 8, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_alloc(in.store, "g", 0, &out));
  REFUSED(SCUTE_E_INVALID, scute_pow_alloc(in.store, "g", 8, nullptr));
  REFUSED(SCUTE_E_INVALID, scute_pow_alloc(in.store, "g", 8, &out));  // in a section
}
void pow_store(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_store(nullptr, &in));
  REFUSED(SCUTE_E_INVALID, scute_pow_store(in.file, nullptr));
}
void pow_epoch(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_epoch(nullptr, &in));
  REFUSED(SCUTE_E_INVALID, scute_pow_epoch(in.file, nullptr));
}
void pow_count(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_count(nullptr, &s.number));
  REFUSED(SCUTE_E_INVALID, scute_pow_count(in.file, nullptr));
}
void pow_load(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_load(nullptr, 0, &s.q));
  REFUSED(SCUTE_E_INVALID, scute_pow_load(in.file, 0, nullptr));
  REFUSED(SCUTE_E_RANGE, scute_pow_load(in.file, 0, &s.q));
}
void pow_adopt(stage& s) {
  open_store in;
  REFUSED(SCUTE_E_INVALID, scute_pow_adopt(nullptr, 0, &in));
  REFUSED(SCUTE_E_INVALID, scute_pow_adopt(in.file, 0, nullptr));
  REFUSED(SCUTE_E_RANGE, scute_pow_adopt(in.file, 0, &in));
}

}  // namespace

#define MISUSE(name) {"scute_" #name, name}
void list_misuse_of_pow(misuse_list& to) {
  to.insert({MISUSE(pow_options_init),  MISUSE(pow_open),          MISUSE(pow_close),
             MISUSE(pow_sync),          MISUSE(pow_clean),         MISUSE(pow_compact),
             MISUSE(pow_list_tables),   MISUSE(pow_list_segments), MISUSE(pow_check),
             MISUSE(pow_check_details), MISUSE(pow_get_info),      MISUSE(pow_table_open),
             MISUSE(pow_table_close),   MISUSE(pow_begin),         MISUSE(pow_current),
             MISUSE(pow_lock),          MISUSE(pow_new),           MISUSE(pow_edit),
             MISUSE(pow_erase),         MISUSE(pow_undo),          MISUSE(pow_undo_copy),
             MISUSE(pow_take_back),     MISUSE(pow_stream),        MISUSE(pow_commit),
             MISUSE(pow_abort),         MISUSE(pow_alloc),         MISUSE(pow_store),
             MISUSE(pow_epoch),         MISUSE(pow_count),         MISUSE(pow_load),
             MISUSE(pow_adopt),         MISUSE(pow_keep),          MISUSE(pow_drop)});
}

}  // namespace scute::test
