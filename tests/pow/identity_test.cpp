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
  make<map_to<named_before>>([](auto& f) { f.edit(1) = {1, 2}; });
  EXPECT_EQ(opened<map_to<named_longer>>(), errc::type);
  EXPECT_EQ(opened<map_to<named_shorter>>(), errc::type);
  EXPECT_EQ(opened<map_to<named_before>>(), errc{});
}

// A table as libraries made it that gave all types without a name one number.
TEST_P(Identity, TablesMadeBefore) {
  const uint32_t number = (type_hash("unsigned") + 8) * 31 ^ 0x6d617000;
  struct bytes {
    uint64_t key;
    two_ints x;
  } one{7, {1, 2}};
  {
    store db(path, small());
    scute_pow_serializer k{};
    k.struct_size = sizeof k;
    k.type = number;
    k.arg = &one;
    k.measure = [](void*, uint64_t) -> int64_t { return sizeof(bytes); };
    k.encode = [](void* arg, uint64_t, void* to) { std::memcpy(to, arg, sizeof(bytes)); };
    k.load = [](void*, uint64_t, const void*, uint32_t) { return 0; };
    scute_pow_table* t = nullptr;
    ASSERT_EQ(scute_pow_table_open(db.native_handle(), "t", &k, &t), SCUTE_OK);
    scute_pow_section* s = nullptr;
    uint64_t id = 0;
    ASSERT_EQ(scute_pow_begin(db.native_handle(), SCUTE_POW_STRICT, &s), SCUTE_OK);
    ASSERT_EQ(scute_pow_new(s, t, SCUTE_POW_ANY, &id), SCUTE_OK);
    ASSERT_EQ(scute_pow_commit(s), SCUTE_OK);
  }
  EXPECT_EQ(opened<map_to<one_int>>(), errc::type) << "bytes are left over";
  EXPECT_EQ(opened<map_to<three_ints>>(), errc::type) << "bytes are missing";
  {
    options o = small();
    o.flags = SCUTE_POW_READONLY;
    store db(path, o);
    map_to<two_ints> face(db, "t");
    EXPECT_EQ(face.at(7).b, 2);
  }
  {
    store db(path, small());
    map_to<two_ints> face(db, "t");
    EXPECT_EQ(face.at(7).a, 1);
    auto s = db.section(m);
    face.edit(8).a = 3;
    s.commit();
  }
  // From then on it has the number of its layout.
  EXPECT_EQ(opened<map_to<mixed>>(), errc::type);
  store db(path, small());
  map_to<two_ints> face(db, "t");
  EXPECT_EQ(face.at(8).a, 3);
  EXPECT_EQ(db.check(SCUTE_POW_COMPARE), 0U);
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
