// SPDX-License-Identifier: BSD-3-Clause
// Which types may be stored: mostly decided by the compiler.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <scute/containers.hpp>
#include <scute/scute.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace {

using scute::storable;

struct plain {
  int a;
  double b;
  char text[10];
  std::array<uint16_t, 4> c;
};
struct nested {
  plain p[3];
  struct {
    int x, y;
  } point;
};
struct bits {
  unsigned a : 3;
  unsigned b : 5;
};
struct empty {};
struct defaulted {
  int a = 5;
  scute::ptr<defaulted> next = nullptr;
};
struct numbered_23 {
  int a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
      a21, a22, a23;
};
struct numbered_24_pointer {
  int a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,
      a21, a22, a23;
  int* p;
};
struct no_default {
  explicit no_default(int v) : value(v) {}
  int value;
};
struct holds_no_default {
  int a;
  no_default n;
};
struct opaque_after {
  int a;
  no_default n = no_default(1);
  int c;
};
struct holds_optional {
  std::optional<int> o;
  int b;
};
struct containers {
  scute::string s;
  scute::vector<scute::string> v;
  scute::hash_map<int, int> h;
  scute::ordered_map<scute::string, int> o;
  scute::queue<plain> q;
};

static_assert(storable<int> && storable<double> && storable<plain> && storable<nested>);
static_assert(storable<bits> && storable<empty> && storable<defaulted> && storable<numbered_23>);
static_assert(storable<no_default> && storable<holds_no_default> && storable<opaque_after>);
static_assert(storable<holds_optional> && storable<scute::ptr<int>> && storable<containers>);
static_assert(storable<scute::ptr<int[]>> && storable<std::array<plain, 3>>);

struct pointer_inside {
  plain p;
  int* q;
};
struct deep_pointer {
  struct {
    struct {
      const char* name[2];
    } b[2];
  } a;
};
struct view_inside {
  std::string_view v;
};
struct reference_inside {
  int& r;
};
struct const_inside {
  const int c;
};
struct array_of_pointers {
  std::array<int*, 2> a;
};
struct alignas(64) too_aligned {
  int a;
};
struct has_virtual {
  virtual ~has_virtual() = default;
  int a;
};

static_assert(!storable<int*> && !storable<int&> && !storable<const int> && !storable<int[3]>);
static_assert(!storable<std::string> && !storable<std::vector<int>> &&
              !storable<std::unique_ptr<int>> && !storable<std::atomic<int>>);
static_assert(!storable<std::string_view> && !storable<std::span<int>> &&
              !storable<std::reference_wrapper<int>> && !storable<std::error_code>);
static_assert(!storable<pointer_inside> && !storable<deep_pointer> && !storable<view_inside>);
static_assert(!storable<reference_inside> && !storable<const_inside>);
static_assert(!storable<array_of_pointers> && !storable<too_aligned> && !storable<has_virtual>);
static_assert(!storable<numbered_24_pointer> && !storable<std::nullptr_t>);
static_assert(!storable<int plain::*> && !storable<void (*)()>);
static_assert(!storable<scute::pool> && !storable<scute::tx> && !storable<scute::reader>);

struct token {
  void* cookie;  // never followed
};
struct holds_token {
  token t;
};

}  // namespace

template <>
inline constexpr bool scute::assume_storable<token> = true;

namespace {

static_assert(storable<token> && storable<holds_token>);

static_assert(scute::detail::field_count<plain> == 4);
static_assert(scute::detail::field_count<nested> == 2);
static_assert(scute::detail::field_count<empty> == 0);
static_assert(scute::detail::field_count<numbered_24_pointer> == 24);
static_assert(scute::detail::field_count<opaque_after> == scute::detail::fields_unknown);

// Containers cannot be copied by accident, although they are trivially copyable.
static_assert(!std::is_copy_constructible_v<scute::string> &&
              !std::is_copy_assignable_v<scute::vector<int>> &&
              !std::is_copy_constructible_v<containers>);

static_assert(scute::ownership<containers>::owns && !scute::ownership<nested>::owns);
static_assert(scute::ownership<scute::string[3]>::owns &&
              scute::ownership<std::array<scute::string, 2>>::owns);

TEST(storable, fields_are_visited_in_order) {
  struct point {
    int x, y;
    bits b;
    int z;
  };
  point p{1, 2, {}, 3};
  int sum = 0;
  const auto add = [&](int& field) { sum = sum * 10 + field++; };
  scute::detail::for_each_field<std::is_integral>(p, add);
  EXPECT_EQ(sum, 123);
  EXPECT_EQ(p.z, 4);
}

struct by_name {
  static constexpr std::string_view scute_type = "test.by_name";
};
struct by_number {
  static constexpr uint32_t scute_type = 7;
};

}  // namespace

SCUTE_TYPE(plain, "test.plain")

namespace {

TEST(type_number, comes_from_the_name) {
  EXPECT_EQ(scute::type_number<plain>, scute::type_hash("test.plain"));
  EXPECT_EQ(scute::type_number<by_name>, scute::type_hash("test.by_name"));
  EXPECT_EQ(scute::type_number<by_number>, 7U);
  EXPECT_EQ(scute::type_number<nested>, 0U);
  EXPECT_FALSE(scute::numbered<nested>);
  EXPECT_NE(scute::type_number<plain[]>, scute::type_number<plain>);
  EXPECT_EQ(scute::type_number<nested[]>, 0U);
}

TEST(type_number, hash_never_changes) {
  EXPECT_EQ(scute::type_hash("a"), 0xE40C292CU);  // FNV-1a's published test values
  EXPECT_EQ(scute::type_hash("foobar"), 0xBF9CF968U);
}

}  // namespace
