// SPDX-License-Identifier: BSD-3-Clause
// Types that are told apart, and objects that are no objects of their table's type.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "files.hpp"

namespace scute::pow {
namespace {

struct two_ints {
  int64_t a = 0, b = 0;
};
struct mixed {
  double a = 0;
  int64_t b = 0;
};
struct one_int {
  int64_t a = 0;
};
struct three_ints {
  int64_t a = 0, b = 0, c = 0;
};
struct halves {
  int32_t a = 0, b = 0, c = 0, d = 0;
};
struct unsigned_ints {
  uint64_t a = 0, b = 0;
};
struct grouped {  // the same bytes as two_ints
  one_int a{}, b{};
};
enum class color : uint8_t { red, green };
struct named_before {
  static constexpr std::string_view scute_type = "named";
  int64_t a = 0, b = 0;
};
struct named_longer {
  static constexpr std::string_view scute_type = "named";
  int64_t a = 0, b = 0, c = 0;
};
struct named_shorter {
  static constexpr std::string_view scute_type = "named";
  int64_t a = 0;
};
// Classes of one size, whose fields the compiler does not show: their names tell them apart.
class sum {
 public:
  static constexpr std::string_view scute_type = "sum";
  sum() = default;
  sum(int64_t a, int64_t b) : a_(a), b_(b) {}
  int64_t both() const { return a_ + b_; }

 private:
  int64_t a_ = 0, b_ = 0;
};
class product {
 public:
  static constexpr std::string_view scute_type = "product";
  product() = default;
  product(double a, double b) : a_(a), b_(b) {}

 private:
  double a_ = 0, b_ = 0;
};
struct sums {
  sum x[2];
};
struct products {
  product x[2];
};
struct hollow {
  static constexpr std::string_view scute_type = "hollow";
  hollow() {}  // NOLINT(modernize-use-equals-default): leaves its memory untouched
};

// A table as libraries made it that gave all types without a name one number, with one object.
struct made_before {
  uint32_t type;
  uint32_t size;      // of objects; 0: they vary
  bool chooses;       // the face chooses indexes; the object has 0
  std::string bytes;  // of the object
};
class Identity : public test::pow_files {
 protected:
  template <class Face>
  errc opened() {
    return code_of([&] {
      store db(path, small());
      Face face(db, "t");
    });
  }
  template <class Face, class Fill>
  void make(Fill&& fill) {
    store db(path, small());
    Face face(db, "t");
    auto s = db.section(m);
    fill(face);
    s.commit();
  }
  // Makes the table, and returns the object's id.
  uint64_t make_before(made_before& how) {
    store db(path, small());
    scute_pow_serializer k{};
    k.struct_size = sizeof k;
    k.type = how.type;
    k.size = how.size;
    k.chooses_indexes = how.chooses ? 1 : 0;
    k.arg = &how.bytes;
    k.measure = [](void* arg, uint64_t) -> int64_t {
      return static_cast<int64_t>(static_cast<std::string*>(arg)->size());
    };
    k.encode = [](void* arg, uint64_t, void* to) {
      const auto& from = *static_cast<std::string*>(arg);
      std::memcpy(to, from.data(), from.size());
    };
    k.load = [](void*, uint64_t, const void*, uint32_t) { return 0; };
    scute_pow_table* t = nullptr;
    scute_pow_section* s = nullptr;
    uint64_t id = 0;
    EXPECT_EQ(scute_pow_table_open(db.native_handle(), "t", &k, &t), SCUTE_OK);
    EXPECT_EQ(scute_pow_begin(db.native_handle(), SCUTE_POW_STRICT, &s), SCUTE_OK);
    EXPECT_EQ(scute_pow_new(s, t, how.chooses ? 0 : SCUTE_POW_ANY, &id), SCUTE_OK);
    EXPECT_EQ(scute_pow_commit(s), SCUTE_OK);
    return id;
  }
  // Face<two_ints> was made; every other layout is refused, and the same one is not.
  template <template <class> class Face>
  void expect_layouts_apart() {
    EXPECT_EQ(opened<Face<mixed>>(), errc::type);
    EXPECT_EQ(opened<Face<one_int>>(), errc::type);
    EXPECT_EQ(opened<Face<three_ints>>(), errc::type);
    EXPECT_EQ(opened<Face<halves>>(), errc::type);
    EXPECT_EQ(opened<Face<unsigned_ints>>(), errc::type);
    EXPECT_EQ(opened<Face<named_before>>(), errc::type);
    EXPECT_EQ((opened<Face<std::array<int64_t, 2>>>()), errc::type);
    EXPECT_EQ(opened<Face<std::string>>(), errc::type);
    EXPECT_EQ(opened<Face<uint64_t>>(), errc::type);
    EXPECT_EQ(opened<Face<color>>(), errc::type);
    EXPECT_EQ(opened<Face<std::vector<two_ints>>>(), errc::type);
    EXPECT_EQ(opened<Face<grouped>>(), errc{});
    EXPECT_EQ(opened<Face<two_ints>>(), errc{});
  }
};
INSTANTIATE_TEST_SUITE_P(, Identity, test::memory_and_disk(), test::name_of_place);

template <class T>
using map_to = map<uint64_t, T>;
template <class T>
using unordered_to = unordered_map<uint64_t, T>;
template <class T>
struct by_bytes {
  bool operator()(const T& a, const T& b) const { return std::memcmp(&a, &b, sizeof a) < 0; }
};
template <class T>
using map_from = map<T, uint64_t, by_bytes<T>>;
template <class T>
using map_to_many = map<uint64_t, std::vector<T>>;

TEST_P(Identity, OfMaps) {
  make<map_to<two_ints>>([](auto& f) { f.edit(1) = {1, 2}; });
  expect_layouts_apart<map_to>();
  expect_layouts_apart<unordered_to>();
}
TEST_P(Identity, OfClassesThatShowNoFields) {
  const auto expect_apart = [&]<template <class> class Face>(const char* face, auto&& fill) {
    SCOPED_TRACE(face);
    path = folder.file(face);
    make<Face<sum>>(fill);
    EXPECT_EQ(opened<Face<product>>(), errc::type);
    EXPECT_EQ(opened<Face<two_ints>>(), errc::type);
    EXPECT_EQ(opened<Face<sum>>(), errc{});
  };
  expect_apart.template operator()<map_to>("map", [](auto& f) { f.edit(1) = {1, 2}; });
  expect_apart.template operator()<unordered_to>("hash", [](auto& f) { f.edit(1) = {1, 2}; });
  expect_apart.template operator()<map_from>("keys", [](auto& f) { f.edit({1, 2}) = 3; });
  expect_apart.template operator()<table>("table", [](auto& f) { f.make(1, 2); });
  expect_apart.template operator()<vector>("vector", [](auto& f) { f.push_back({1, 2}); });
  expect_apart.template operator()<queue>("queue", [](auto& f) { f.push({1, 2}); });
  expect_apart.template operator()<value>("value", [](auto& f) { f.edit() = {1, 2}; });
  path = folder.file("fields");
  make<value<sums>>([](auto& f) { f.edit(); });
  EXPECT_EQ(opened<value<products>>(), errc::type);
  EXPECT_EQ(opened<value<sums>>(), errc{});
}
TEST_P(Identity, OfKeys) {
  make<map_from<two_ints>>([](auto& f) { f.edit({1, 2}) = 3; });
  EXPECT_EQ(opened<map_from<mixed>>(), errc::type);
  EXPECT_EQ(opened<map_from<one_int>>(), errc::type);
  EXPECT_EQ(opened<map_from<two_ints>>(), errc{});
}
TEST_P(Identity, OfVectorsInMaps) {
  make<map_to_many<two_ints>>([](auto& f) { f.edit(1).push_back({1, 2}); });
  EXPECT_EQ(opened<map_to_many<mixed>>(), errc::type);
  EXPECT_EQ(opened<map_to_many<one_int>>(), errc::type);
  EXPECT_EQ(opened<map_to_many<two_ints>>(), errc{});
}
TEST_P(Identity, OfTables) {
  make<table<two_ints>>([](auto& f) { f.make(1, 2); });
  expect_layouts_apart<table>();
}
TEST_P(Identity, OfVectors) {
  make<vector<two_ints>>([](auto& f) { f.push_back({1, 2}); });
  expect_layouts_apart<vector>();
}
TEST_P(Identity, OfQueues) {
  make<queue<two_ints>>([](auto& f) { f.push({1, 2}); });
  expect_layouts_apart<queue>();
}
TEST_P(Identity, OfValues) {
  make<value<two_ints>>([](auto& f) { f.edit() = {1, 2}; });
  expect_layouts_apart<value>();
}

// Another length under one name: a mistake of the program's, and no damage.
TEST_P(Identity, OneNameOfTwoLengths) {
  const auto expect_apart = [&]<template <class> class Face>(const char* face, auto&& fill) {
    SCOPED_TRACE(face);
    path = folder.file(face);
    make<Face<named_before>>(fill);
    EXPECT_EQ(opened<Face<named_longer>>(), errc::type);
    EXPECT_EQ(opened<Face<named_shorter>>(), errc::type);
    EXPECT_EQ(opened<Face<named_before>>(), errc{});
  };
  expect_apart.template operator()<map_to>("map", [](auto& f) { f.edit(1) = {1, 2}; });
  expect_apart.template operator()<unordered_to>("hash", [](auto& f) { f.edit(1) = {1, 2}; });
  expect_apart.template operator()<map_from>("keys", [](auto& f) { f.edit({1, 2}) = 3; });
  expect_apart.template operator()<map_to_many>("many", [](auto& f) { f.edit(1) = {{1, 2}}; });
  expect_apart.template operator()<table>("table", [](auto& f) { f.make(1, 2); });
  expect_apart.template operator()<vector>("vector", [](auto& f) { f.push_back({1, 2}); });
  expect_apart.template operator()<queue>("queue", [](auto& f) { f.push({1, 2}); });
  expect_apart.template operator()<value>("value", [](auto& f) { f.edit() = {1, 2}; });
}

// Every face reads them.
TEST_P(Identity, TablesMadeBefore) {
  // get: the object; change: adds one, or changes the only one.
  const auto expect_read = [&]<template <class> class Face>(const char* name, made_before how,
                                                            auto&& get, auto&& change) {
    SCOPED_TRACE(name);
    path = folder.file(name);
    const two_ints old{1, 2};
    how.bytes.append(reinterpret_cast<const char*>(&old), sizeof old);
    const uint64_t id = make_before(how);
    EXPECT_EQ(opened<Face<one_int>>(), errc::type) << "bytes are left over";
    EXPECT_EQ(opened<Face<three_ints>>(), errc::type) << "bytes are missing";
    {
      options o = small();
      o.flags = SCUTE_POW_READONLY;
      store db(path, o);
      Face<two_ints> face(db, "t");
      EXPECT_EQ(get(face, id).b, 2);
    }
    {
      store db(path, small());
      Face<two_ints> face(db, "t");
      EXPECT_EQ(get(face, id).a, 1);
      auto s = db.section(m);
      change(face);
      s.commit();
    }
    // From then on it has the number of its layout.
    EXPECT_EQ(opened<Face<mixed>>(), errc::type);
    store db(path, small());
    Face<two_ints> face(db, "t");
    EXPECT_EQ(get(face, id).b, 2);
    EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
  };
  constexpr uint32_t each = sizeof(two_ints);
  const uint64_t key = 7;
  const std::string key_bytes(reinterpret_cast<const char*>(&key), sizeof key);
  const uint32_t to_nothing = (type_hash("unsigned") + 8) * 31 ^ 0x6d617000;
  const auto at_key = [&](auto& f, uint64_t) { return f.at(key); };
  const auto add_key = [](auto& f) { f.edit(8).a = 3; };
  expect_read.template operator()<map_to>("map", {to_nothing, 0, false, key_bytes}, at_key,
                                          add_key);
  expect_read.template operator()<unordered_to>("hash", {to_nothing, 0, false, key_bytes}, at_key,
                                                add_key);
  expect_read.template operator()<table>(
      "table", {0, each, false, ""}, [](auto& f, uint64_t id) { return f.get({id}); },
      [](auto& f) { f.make(3, 4); });
  expect_read.template operator()<vector>(
      "vector", {0x76656300, each, true, ""}, [](auto& f, uint64_t) { return f[0]; },
      [](auto& f) { f.push_back({3, 4}); });
  expect_read.template operator()<queue>(
      "queue", {0x71756500, 0, false, std::string(8, '\0')},
      [](auto& f, uint64_t) { return f.front(); }, [](auto& f) { f.push({3, 4}); });
  expect_read.template operator()<value>(
      "value", {0x76616c00, each, true, ""}, [](auto& f, uint64_t) { return f.get(); },
      [](auto& f) { f.edit().a = 3; });
}

// 2^32 elements and five: the file had five, and the commit was fine.
TEST_P(Identity, CountsOf32BitsAreNotCut) {
  bytes_out out;
  EXPECT_EQ(code_of([&] { out.put_count((uint64_t{1} << 32) + 5); }), errc::range);
  EXPECT_EQ(code_of([&] { out.put_count(UINT32_MAX); }), errc{});
  EXPECT_EQ(code_of([&] { out.write("", size_t{1} << 32); }), errc::range);
}

}  // namespace
}  // namespace scute::pow

template <>
struct scute::pow::codec<scute::pow::hollow> {
  static void encode(const hollow&, bytes_out&) {}
  static void decode(hollow&, bytes_in&) {}
};

namespace scute::pow {
namespace {

TEST_P(Identity, LargeVectorsAreRefusedByTheCommit) {
  store db(path, small());
  map<uint64_t, std::vector<hollow>> all(db, "all");
  {
    auto s = db.section(m);
    all.edit(1).resize(3);
    s.commit();
  }
  EXPECT_EQ(code_of([&] {
              auto s = db.section(m);
              // (Memory that no thread touches.)
              all.edit(2) = std::vector<hollow>((size_t{1} << 32) + 5);
              s.commit();
            }),
            errc::range);
  EXPECT_FALSE(all.contains(2));
  EXPECT_EQ(all.at(1).size(), 3U);
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
}

}  // namespace
}  // namespace scute::pow
