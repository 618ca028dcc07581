// SPDX-License-Identifier: BSD-3-Clause
#include "pow/store_file.hpp"

#include "failure.hpp"
#include "numbers.hpp"
#include "other_kind.hpp"
#include "output.hpp"
#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace scute_tool {

namespace {

scute_medium medium_of(const std::string& name) {
  if (name == "dax") return SCUTE_MEDIUM_DAX;
  if (name == "file") return SCUTE_MEDIUM_FILE;
  return name == "ram" ? SCUTE_MEDIUM_RAM : SCUTE_MEDIUM_AUTO;
}

scute_pow_protection store_protection_of(const std::string& name) {
  if (name == "none") return SCUTE_POW_NONE;
  return name == "sealed" ? SCUTE_POW_SEALED : SCUTE_POW_ALWAYS;
}

}  // namespace

const char* name_of(scute_pow_protection p) {
  switch (p) {
    case SCUTE_POW_NONE: return "none";
    case SCUTE_POW_SEALED: return "sealed";
    case SCUTE_POW_ALWAYS: return "always";
    case SCUTE_POW_DEFAULT: break;  // of options alone
  }
  return "unknown";
}

damage::damage(const scute_pow_damage& d)
    : what(d.what),
      lost(d.lost != 0),
      segment(d.segment),
      lane(d.lane),
      session(d.session),
      first_section(d.first_section),
      last_section(d.last_section) {
  const char* at = reinterpret_cast<const char*>(d.ranges);
  for (size_t i = 0; i < d.range_count; ++i) {
    const auto& r = *reinterpret_cast<const scute_pow_damage_range*>(at);
    objects.push_back(
        {r.table[0] != 0 ? r.table : std::to_string(r.number), r.first, r.last, r.records});
    at += r.struct_size;
  }
}

// Unknown values are left out.
json damage::in_json() const {
  json j{{"what", what}, {"lost", lost}};
  if (segment != SCUTE_POW_NO_SEGMENT) j["segment"] = segment;
  if (session != 0) {
    j["lane"] = lane;
    j["session"] = session;
  }
  if (first_section != 0) {
    j["first_section"] = first_section;
    j["last_section"] = last_section;
  }
  json list = json::array();
  for (const range& r : objects)
    list.push_back(
        {{"table", r.table}, {"first", r.first}, {"last", r.last}, {"records", r.records}});
  j["objects"] = std::move(list);
  return j;
}

void store_flags::add_to(CLI::App& app, bool create) {
  const char* const group = "File options";
  app.add_option("--medium", medium, "where bytes persist (default auto: by file system)")
      ->check(one_of({"auto", "dax", "file", "ram"}))
      ->type_name("auto|dax|file|ram")
      ->group(group);
  if (!create) return;
  app.add_option("--size", size, "initial size of a new file (default 4M)")
      ->transform(size_value())
      ->type_name("SIZE")
      ->group(group);
  app.add_option("--max-size", max_size, "size up to which the file grows (default 4G)")
      ->transform(size_value())
      ->type_name("SIZE")
      ->group(group);
  app.add_option("--max-memory", max_memory, "memory that objects may take (default no limit)")
      ->transform(size_value())
      ->type_name("SIZE")
      ->group(group);
  app.add_option("--segment-size", segment_size,
                 "segment size of a new file: no record can be larger (default 256K)")
      ->transform(size_value())
      ->type_name("SIZE")
      ->group(group);
  app.add_option("--protection", protection,
                 "protection of a new file against media errors (default always: one page in nine)")
      ->check(one_of({"none", "sealed", "always"}))
      ->type_name("none|sealed|always")
      ->group(group);
}

void store_flags::add_salvage(CLI::App& app) {
  app.add_flag("--salvage", salvage,
               "open a file that is damaged beyond repair, too: losses are reported, and the rest "
               "is readable");
}

scute::pow::store store_file::open(const store_flags& flags, how mode, progress* bar) {
  scute::pow::options o;
  o.medium = medium_of(flags.medium);
  o.flags = mode == how::read ? SCUTE_POW_READONLY : SCUTE_POW_NO_CLEANER;
  if (mode != how::create) o.flags |= SCUTE_POW_EXISTING;
  if (flags.salvage) o.flags |= SCUTE_POW_SALVAGE;
  // One that is given limits the default of the other.
  if (flags.size != 0) o.size = flags.size;
  if (flags.max_size != 0) o.max_size = flags.max_size;
  if (o.max_size < o.size) {
    if (flags.size != 0 && flags.max_size != 0)
      throw failure(exit_error, path_,
                    fmt::format("--max-size {} is less than --size {}", o.max_size, o.size));
    (flags.max_size == 0 ? o.max_size : o.size) = std::max(flags.size, flags.max_size);
  }
  o.max_memory = flags.max_memory;
  if (flags.segment_size != 0) o.segment_size = flags.segment_size;
  if (!flags.protection.empty()) o.protection = store_protection_of(flags.protection);
  o.details_arg = &found_;
  o.details = [](void* arg, const scute_pow_damage* d) {
    static_cast<std::vector<damage>*>(arg)->emplace_back(*d);
  };
  if (bar != nullptr) {
    o.progress_arg = bar;
    o.progress = [](void* arg, const char* what, uint64_t done, uint64_t total) {
      static_cast<progress*>(arg)->update(what, done, total);
    };
  }
  const auto open_with = [&](uint32_t flag) {
    scute::pow::options with = o;
    with.flags |= flag;
    return scute::pow::store(failure::library_path(path_), with);
  };
  try {
    if (mode == how::create) try {
        is_new_ = true;
        return open_with(SCUTE_POW_NEW);
      } catch (const scute::error& error) {
        is_new_ = false;
        if (error.which() != scute::errc::exists) throw;
      }
    scute::pow::store there = open_with(0);
    // A store keeps no note of its first size, and may have grown since. A new one has whole
    // segments.
    const scute_pow_info has = there.info();
    if (has.segments < flags.size / has.segment_size)
      throw failure(exit_error, path_,
                    fmt::format("has {} bytes, and not --size {} as asked for; that is chosen when "
                                "a store is made, and it grows by itself: leave out that option",
                                has.file_size, flags.size));
    return there;
  } catch (const scute::error& error) {
    throw not_of_kind(file_kind::persist_on_write, path_, error);
  }
}

store_file::store_file(const std::string& path, const store_flags& flags, how mode, progress* bar)
    : path_(path), store_(open(flags, mode, bar)) {}

scute_pow_info store_file::info() const {
  return working_on(path_, [&] { return store_.info(); });
}

std::vector<scute_pow_table_info> store_file::tables() const {
  std::vector<scute_pow_table_info> all;
  names_.clear();
  struct {
    std::vector<scute_pow_table_info>& all;
    std::vector<std::string>& names;
  } to{all, names_};
  working_on(path_, [&] {
    scute::detail::check(scute_pow_list_tables(
        store_.native_handle(),
        [](void* arg, const scute_pow_table_info* t) {
          auto& x = *static_cast<decltype(to)*>(arg);
          x.all.push_back(*t);
          x.names.emplace_back(t->name);
        },
        &to));
  });
  for (size_t i = 0; i < all.size(); ++i) all[i].name = names_[i].c_str();
  return all;
}

bool store_file::has_table(const std::string& name) const {
  for (const scute_pow_table_info& t : tables())
    if (name == t.name) return true;
  return false;
}

void store_file::close() {
  working_on(path_, [&] { store_.close(); });
}

}  // namespace scute_tool
