// What another process may send on its stream: frames as bytes, the checks, and damage from a seed.
// SPDX-License-Identifier: Apache-2.0
#include "runtime/transport/wire/stream_lanes.h"

#include "runtime/base/mix.h"

#include <gtest/gtest.h>

namespace pdg {
namespace {

constexpr Peer kTrainer{PeerKind::Trainer, 0};
constexpr Peer kServer{PeerKind::Server, 0};

/// Edge 0: f32[2, ?] to the server, at most 8 elements. Edge 1: u8[3] to the trainer.
Topology twoEdges() {
  EdgeInfo gradient, parameter;
  gradient.name = "gradient";
  gradient.shape = {2, -1};
  gradient.bound = 8;
  parameter.name = "parameter";
  parameter.dtype = DType::U8;
  parameter.shape = {3};
  parameter.fromKind = PeerKind::Server;
  parameter.toKind = PeerKind::Trainer;
  return {1, 1, {gradient, parameter}};
}

std::string bytesOf(const WireFrame &frame, const std::string &payload = "") {
  std::string bytes;
  appendFrame(frame, bytes);
  return bytes + payload;
}

WireFrame tensor(uint32_t edge, uint32_t number, std::vector<int64_t> sizes) {
  WireFrame frame;
  frame.edge = edge;
  frame.number = number;
  frame.rank = static_cast<uint8_t>(sizes.size());
  std::copy(sizes.begin(), sizes.end(), frame.sizes.begin());
  return frame;
}

WireFrame other(FrameKind kind, uint32_t edge = 0, uint32_t number = 0, uint64_t offset = 0) {
  WireFrame frame;
  frame.kind = kind;
  frame.edge = edge;
  frame.number = number;
  frame.offset = offset;
  return frame;
}

class StreamLanesTest : public testing::Test {
protected:
  /// Gives the server a message of the trainer, cut into pieces of `cut` bytes.
  absl::Status give(const std::string &bytes, size_t cut = 1000) {
    std::vector<std::string_view> pieces;
    for (size_t i = 0; i < bytes.size(); i += cut)
      pieces.push_back(std::string_view(bytes).substr(i, cut));
    return lanes_.accept(pieces);
  }

  std::string refusal(const std::string &bytes) { return std::string(give(bytes).message()); }

  const Topology topology_ = twoEdges();
  StreamLanes lanes_{topology_, kServer, kTrainer};
};

TEST_F(StreamLanesTest, ReadsMessagesThatAreCutAnywhere) {
  const std::string payload = "0123456789abcdef";
  for (size_t cut = 1; cut < 60; ++cut) {
    uint32_t number = lanes_.incoming(0)->arrived;
    ASSERT_TRUE(give(bytesOf(tensor(0, number, {2, 2}), payload), cut).ok());
    EXPECT_EQ(lanes_.incoming(0)->arrived, number + 1);
    EXPECT_EQ(std::string(lanes_.incoming(0)->at(number).buffer.data(), 16), payload);
    lanes_.incoming(0)->released = number + 1;
  }
}

TEST_F(StreamLanesTest, JoinsPieces) {
  ASSERT_TRUE(give(bytesOf(tensor(0, 0, {2, 2}), "0123")).ok());
  EXPECT_EQ(lanes_.incoming(0)->arrived, 0u);
  ASSERT_TRUE(give(bytesOf(other(FrameKind::Piece, 0, 0, 4), "456789")).ok());
  ASSERT_TRUE(give(bytesOf(other(FrameKind::Piece, 0, 0, 10), "abcdef")).ok());
  EXPECT_EQ(lanes_.incoming(0)->arrived, 1u);
  EXPECT_EQ(std::string(lanes_.incoming(0)->at(0).buffer.data(), 16), "0123456789abcdef");
  ASSERT_EQ(lanes_.completed().size(), 1u);
}

TEST_F(StreamLanesTest, RefusesWhatWasNotDeclared) {
  const std::string four(4, 'x'), sixteen(16, 'x');
  EXPECT_EQ(refusal(bytesOf(tensor(2, 0, {}))), "a message of edge 2, but there are 2");
  EXPECT_EQ(refusal(bytesOf(tensor(1, 0, {3}), "abc")),
            "a message of edge 'parameter', which does not lead here");
  EXPECT_EQ(refusal(bytesOf(tensor(0, 1, {2, 2}), sixteen)),
            "edge 'gradient': expects message 0, got 1");
  EXPECT_EQ(refusal(bytesOf(tensor(0, 0, {2, 2, 1}), sixteen)),
            "edge 'gradient': expects f32[2, ?], got f32[2, 2, 1]");
  EXPECT_EQ(refusal(bytesOf(tensor(0, 0, {2, 5}), sixteen)),
            "edge 'gradient': expects at most 8 elements, got f32[2, 5]");
  EXPECT_NE(refusal(bytesOf(tensor(0, 0, {2, -1}), "")), "");
  EXPECT_NE(refusal(bytesOf(tensor(0, 0, {2, int64_t{1} << 62}), "")), "");
  EXPECT_EQ(refusal(bytesOf(other(FrameKind::Piece, 0, 0, 0), four)),
            "edge 'gradient': a piece at byte 0 of 0, 0 are there");
  EXPECT_EQ(refusal(bytesOf(other(FrameKind::Credit, 1, 1))),
            "edge 'parameter': a credit for messages that were not sent");
  EXPECT_EQ(refusal(bytesOf(other(FrameKind::Credit, 0, 1))),
            "a credit for edge 0, which does not lead there");
  EXPECT_EQ(refusal(bytesOf(other(FrameKind::Stop))), "a stop without a cause");
  EXPECT_EQ(refusal("abc"), "expects a frame of 20 bytes or more, got 3");
  EXPECT_EQ(refusal(std::string(20, '\0')), "expects a kind of frame, got 0");
  WireFrame wrongType = tensor(0, 0, {2, 2});
  wrongType.dtype = DType::I32;
  EXPECT_EQ(refusal(bytesOf(wrongType, sixteen)),
            "edge 'gradient': expects f32[2, ?], got i32[2, 2]");
  EXPECT_EQ(refusal(bytesOf(tensor(0, 0, {2, 1}), sixteen)),
            "edge 'gradient': expects 8 more bytes, got 16");
  EXPECT_EQ(lanes_.incoming(0)->arrived, 0u);
}

TEST_F(StreamLanesTest, RefusesMoreThanTheDepthAndWhatComesAfterTheEnd) {
  for (uint32_t i = 0; i < 2; ++i)
    ASSERT_TRUE(give(bytesOf(tensor(0, i, {2, 0}))).ok());
  EXPECT_EQ(refusal(bytesOf(tensor(0, 2, {2, 0}))),
            "edge 'gradient': more messages than its depth");
  lanes_.incoming(0)->released = 1;
  EXPECT_TRUE(give(bytesOf(tensor(0, 2, {2, 0}))).ok());
  EXPECT_TRUE(give(bytesOf(other(FrameKind::FinishSeen)) + bytesOf(other(FrameKind::Finish))).ok());
  EXPECT_TRUE(lanes_.hasFinished() && lanes_.isFinishSeen());
  lanes_.incoming(0)->released = 2;
  EXPECT_EQ(refusal(bytesOf(tensor(0, 3, {2, 0}))), "a message after the last");
}

TEST_F(StreamLanesTest, TellsTheCauseOfAStop) {
  uint32_t code = static_cast<uint32_t>(absl::StatusCode::kDataLoss);
  ASSERT_TRUE(give(bytesOf(other(FrameKind::Stop, 0, code), "the disk is full")).ok());
  EXPECT_EQ(lanes_.stopCause(), absl::DataLossError("the disk is full"));
}

/// Damaged and arbitrary messages: each is taken or refused, none is read or written out of bounds
/// (which the sanitizers see), and what is complete has the declared type.
TEST_F(StreamLanesTest, SurvivesDamage) {
  std::vector<std::string> good = {bytesOf(tensor(0, 0, {2, 2}), std::string(16, 'x')),
                                   bytesOf(tensor(0, 0, {2, 4}), std::string(16, 'x')),
                                   bytesOf(other(FrameKind::Piece, 0, 0, 16), std::string(16, 'y')),
                                   bytesOf(other(FrameKind::Credit, 1, 1)),
                                   bytesOf(other(FrameKind::Stop, 0, 3), "text")};
  uint64_t draws = 0, taken = 0;
  auto draw = [&](uint64_t bound) { return drawBelow(7, draws++, bound); };
  for (int job = 0; job < 3000; ++job) {
    StreamLanes lanes(topology_, kServer, kTrainer);
    lanes.outgoing(1)->sent = 1;
    for (absl::Status status; status.ok() && draw(8) != 0;) {
      std::string bytes = good[draw(good.size())];
      for (uint64_t changes = draw(3); changes > 0; --changes)
        bytes[draw(bytes.size())] = static_cast<char>(draw(4) == 0 ? draw(256) : draw(4));
      if (draw(8) == 0)
        bytes.resize(draw(bytes.size() + 1));
      std::string_view text = bytes;
      size_t cut = draw(bytes.size() + 1);
      const std::string_view pieces[] = {text.substr(0, cut), text.substr(cut)};
      status = lanes.accept(pieces);
      IncomingLane &lane = *lanes.incoming(0);
      for (; lane.released != lane.arrived; ++lane.released, ++taken)
        ASSERT_TRUE(checkSizes(topology_.edges[0], lane.at(lane.released).sizes).ok());
    }
  }
  EXPECT_GT(taken, 100u);
}

} // namespace
} // namespace pdg
