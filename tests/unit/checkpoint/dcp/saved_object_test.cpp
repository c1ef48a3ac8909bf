#include "core/checkpoint/dcp/saved_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "core/base/error.hpp"
#include "core/checkpoint/dcp/archive_writer.hpp"
#include "core/checkpoint/dcp/dcp_names.hpp"
#include "core/checkpoint/dcp/object_writer.hpp"
#include "core/pickle/writer.hpp"
#include "tests/support/thrown_text.hpp"
#include "tests/unit/checkpoint/dcp/text_bytes.hpp"

namespace titan::checkpoint {
namespace {

using ::testing::AllOf;
using testing::bytes_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using titan::testing::error_text;

/// A tensor's pickle; each field may be wrong.
struct Fields {
  std::string_view function = dcp_names::kRebuildTensor, storage = "torch.FloatStorage";
  std::string key = "0";
  std::int64_t stored = 6, offset = 0;
  std::vector<std::int64_t> shape = {2, 3}, strides = {3, 1};
};

void write_counts(pickle::Writer& pickle, const std::vector<std::int64_t>& counts) {
  pickle.begin_tuple();
  for (const std::int64_t count : counts) pickle.integer(count);
  pickle.end_tuple();
}

std::string pickle_of(const Fields& fields) {
  pickle::Writer pickle;
  pickle.name(fields.function);
  pickle.begin_tuple();
  pickle.begin_tuple();
  pickle.text("storage");
  pickle.name(fields.storage);
  pickle.text(fields.key);
  pickle.text("cuda:0");
  pickle.integer(fields.stored);
  pickle.end_tuple();
  pickle.persistent();
  pickle.integer(fields.offset);
  write_counts(pickle, fields.shape);
  write_counts(pickle, fields.strides);
  pickle.boolean(false);
  pickle.begin_dict();
  pickle.end_dict();
  pickle.end_tuple();
  pickle.call();
  return pickle.finish();
}

std::string archive_of(const std::string& pickle, const std::string& data, const std::string& order = "little") {
  ArchiveWriter archive;
  archive.add("data.pkl", pickle);
  if (!order.empty()) archive.add("byteorder", order);
  archive.add("data/0", data);
  archive.finish();
  return archive.take();
}

std::string error_of(const std::string& archive) {
  return error_text<DataError>([&] { SavedObject(bytes_of(archive), "there: item").tensor(); });
}

std::string error_of(const Fields& fields) { return error_of(archive_of(pickle_of(fields), std::string(24, 'x'))); }

TEST(SavedObjectTest, Tensor) {
  const std::string archive = archive_of(pickle_of({}), "012345678901234567890123");
  const SavedTensor tensor = SavedObject(bytes_of(archive), "x").tensor();
  EXPECT_EQ(tensor.dtype, DType::f32);
  EXPECT_THAT(tensor.shape, ElementsAre(2, 3));
  EXPECT_EQ(archive.substr(tensor.begin, 24), "012345678901234567890123");
}

TEST(SavedObjectTest, TensorThatIsAPartOfItsStorage) {
  Fields fields;
  fields.offset = 2;
  fields.shape = {1, 4};
  fields.strides = {99, 1};  // of a dim of one element: any
  const std::string archive = archive_of(pickle_of(fields), "012345678901234567890123");
  EXPECT_EQ(archive.substr(SavedObject(bytes_of(archive), "x").tensor().begin, 4), "8901");
}

TEST(SavedObjectTest, ArchivesOfOlderReleasesSayNoByteOrder) {
  EXPECT_NO_THROW(SavedObject(bytes_of(archive_of(pickle_of({}), std::string(24, 'x'), "")), "x").tensor());
  EXPECT_THAT(error_of(archive_of(pickle_of({}), std::string(24, 'x'), "big")), HasSubstr("it is not little-endian"));
}

TEST(SavedObjectTest, RefusesTensorsThatDoNotFit) {
  Fields fields;
  fields.strides = {1, 2};
  EXPECT_THAT(error_of(fields), AllOf(HasSubstr("there: item"), HasSubstr("not in order")));
  fields = {};
  fields.strides = {3};
  EXPECT_THAT(error_of(fields), HasSubstr("not in order"));
  fields = {};
  fields.offset = 1;
  EXPECT_THAT(error_of(fields), HasSubstr("its tensor leaves its storage"));
  fields = {};
  fields.stored = 7;
  EXPECT_THAT(error_of(fields), HasSubstr("the storage of its tensor has another length"));
  fields = {};
  fields.storage = "torch.DoubleStorage";
  EXPECT_THAT(error_of(fields), HasSubstr("the storage of its tensor has another length"));
  fields = {};
  fields.shape = {-2, 3};
  EXPECT_THAT(error_of(fields), HasSubstr("shape of the tensor is no count"));
  fields = {};
  fields.key = "1";
  EXPECT_THAT(error_of(fields), HasSubstr("it lacks a record: data/1"));
  fields = {};
  fields.key = "../0";
  EXPECT_THAT(error_of(fields), HasSubstr("the storage of its tensor is none"));
}

TEST(SavedObjectTest, RefusesOtherNames) {
  Fields fields;
  fields.function = "torch._utils._rebuild_tensor_v3";
  EXPECT_THAT(error_of(fields), HasSubstr("does not belong here: torch._utils._rebuild_tensor_v3"));
  fields = {};
  fields.storage = "torch.ComplexFloatStorage";
  EXPECT_THAT(error_of(fields), HasSubstr("does not belong here: torch.ComplexFloatStorage"));
  fields = {};
  fields.function = "posix.system";
  EXPECT_THAT(error_of(fields), HasSubstr("does not belong here: posix.system"));
  fields = {};
  fields.function = "_io.BytesIO";
  EXPECT_THAT(error_of(fields), HasSubstr("does not belong here: _io.BytesIO"));
}

TEST(SavedObjectTest, WholeNumbers) {
  const auto integer_of = [](const std::string& archive) { return SavedObject(bytes_of(archive), "x").integer(); };
  pickle::Writer pickle;
  pickle.integer(-70000);
  EXPECT_EQ(integer_of(saved_object(pickle.finish())), -70000);
  const auto of_tensor = [&](std::string_view storage, const std::string& data) {
    Fields fields;
    fields.storage = storage;
    fields.stored = 1;
    fields.shape = fields.strides = {};
    return integer_of(archive_of(pickle_of(fields), data));
  };
  EXPECT_EQ(of_tensor("torch.IntStorage", "\xfe\xff\xff\xff"), -2);
  EXPECT_EQ(of_tensor("torch.LongStorage", std::string("\x00\x01\x00\x00\x00\x00\x00\x00", 8)), 256);
  EXPECT_EQ(of_tensor("torch.ByteStorage", "\xff"), 255);
  EXPECT_THAT(error_text<DataError>([&] { of_tensor("torch.FloatStorage", "1234"); }), HasSubstr("no whole number"));
  EXPECT_THAT(error_text<DataError>([&] { integer_of(archive_of(pickle_of({}), std::string(24, 'x'))); }),
              HasSubstr("no whole number"));
  pickle::Writer text;
  text.text("12");
  EXPECT_THAT(error_text<DataError>([&] { integer_of(saved_object(text.finish())); }), HasSubstr("no whole number"));
}

TEST(SavedObjectTest, PlainValues) {
  pickle::Writer pickle;
  pickle.begin_list();
  pickle.real(0.5);
  pickle.text("x");
  pickle.end_list();
  const SavedObject object(bytes_of(saved_object(pickle.finish())), "x");
  EXPECT_EQ(object.value().item(0).real(), 0.5);
  EXPECT_EQ(object.value().item(1).text(), "x");
}

TEST(SavedObjectTest, SurvivesEveryCutAndFlippedBit) {
  const std::string whole = archive_of(pickle_of({}), std::string(24, 'x'));
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(error_of(whole.substr(0, size)), "") << size;
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string flipped = whole;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1U << bit % 8));
    try {
      SavedObject(bytes_of(flipped), "x").tensor();
    } catch (const DataError&) {
    }
  }
}

}  // namespace
}  // namespace titan::checkpoint
