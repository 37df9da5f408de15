// LocalizedErrors.swift — what an alert shows of an error: its own sentence.

public import Foundation
public import TidemarkCapsule
public import TidemarkEvents
public import TidemarkSync

extension TidemarkError: LocalizedError {
    /// What is wrong and what to do, as ``description`` says it.
    public var errorDescription: String? { description }
}

extension SyncFailure: LocalizedError {
    /// What ``description`` says.
    public var errorDescription: String? { description }
}

extension TransportError: LocalizedError {
    /// What ``description`` says.
    public var errorDescription: String? { description }
}

extension ModelError: LocalizedError {
    /// What ``description`` says.
    public var errorDescription: String? { description }
}

extension JSONError: LocalizedError {
    /// What ``description`` says.
    public var errorDescription: String? { description }
}

extension RedactionError: LocalizedError {
    /// What ``description`` says.
    public var errorDescription: String? { description }
}
