// SentPart.swift — a write without what the server would not take of it.

public import TidemarkEvents

/// The part of a write that is sent.
public struct SentPart: Sendable, Hashable {
    /// The write, without what is left out.
    public var call: ServerCall
    /// What is left out, as warnings: once the server took the rest, they are told as its own are.
    public var leftOut: [ServerIssue]

    /// A part of a write.
    public init(_ call: ServerCall, leftOut: [ServerIssue]) {
        self.call = call
        self.leftOut = leftOut
    }
}
