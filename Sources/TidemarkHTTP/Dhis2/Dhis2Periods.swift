// Dhis2Periods.swift — of which periods aggregate data values are asked for, where a list says
// `periods`: those of its data sets until now, and as far ahead as these take values.
//
//   usual     60 days, 13 weeks or two weeks, 12 months, 6 of two months, 5 of anything longer
//   a number  so many before the one of today
//
// A data set says by which periods it is, and how many ahead it takes. Of one that is not here, or
// that goes by other periods, everything of some years is asked for; so it is where they are many.

public import TidemarkEvents
import TidemarkSync

extension Dhis2Adapter {
    /// The parameter of a list of data values that is of the periods of its data sets.
    static let periods = "periods"

    /// What a list of data values depends on: by which periods its data sets are, how many ahead,
    /// and which elements they have.
    public func basis(
        of parameters: ListParameters, in collection: CollectionModel,
        _ document: (EntityKey) -> JSONDocument?
    ) -> String? {
        guard Dhis2Kind(collection.name) == .dataValues else { return nil }
        let sets = (parameters["dataSet"] ?? "").split(separator: ",").compactMap { id in
            document(EntityKey("dataSets", String(id)))
        }
        guard !sets.isEmpty else { return nil }
        let told = sets.map { set -> String in
            let items = set.value("dataSetElements")?.array ?? []
            let elements = items.compactMap { $0["dataElement"]?["id"]?.stringValue }
            let ahead = set.value("openFuturePeriods")?.int64Value ?? 0
            let type = set.value("periodType")?.stringValue ?? ""
            return ([type, "\(ahead)"] + elements.sorted()).joined(separator: " ")
        }
        return Self.id(from: told.joined(separator: "\n"))
    }

    /// The most periods that a request names.
    private static let periodsMax = 400

    /// With the periods of the data sets in the place of `periods`.
    public func asked(
        _ parameters: ListParameters, of collection: CollectionModel, at now: Timestamp,
        _ document: (EntityKey) -> JSONDocument?
    ) -> ListParameters {
        guard Dhis2Kind(collection.name) == .dataValues, let word = parameters[Self.periods],
            word == "usual" || Int(word).map((1...Dhis2PeriodType.countMax).contains) ?? false
        else { return parameters }
        var values: [String: String] = [:]
        for parameter in parameters.all where parameter.name != Self.periods {
            values[parameter.name] = parameter.value
        }
        let today = Dhis2Day(now)
        var found: [String] = []
        for id in (parameters["dataSet"] ?? "").split(separator: ",").map(String.init) {
            let set = document(EntityKey("dataSets", id))
            guard
                let type = set?.value("periodType")?.stringValue.flatMap(
                    Dhis2PeriodType.init)
            else {
                found = []
                break
            }
            let ahead = set?.value("openFuturePeriods")?.int64Value ?? 0
            let ids = type.ids(
                around: today, back: Int(word) ?? type.usualCount,
                ahead: Int(min(max(0, ahead), Int64(Dhis2PeriodType.countMax))))
            found += ids.filter { !found.contains($0) }
        }
        // So many would not fit into an address.
        if found.count > Self.periodsMax { found = [] }
        if found.isEmpty {
            values["startDate"] = today.moved(years: -5).text
            values["endDate"] = today.moved(years: 1).text
        } else {
            values["period"] = found.joined(separator: ",")
        }
        return ListParameters(values)
    }
}

/// By which periods a data set is.
enum Dhis2PeriodType: Sendable, Hashable {
    case day
    /// Of the weeks that begin with a day: 0 for Monday.
    case week(first: Int64, name: String)
    case twoWeeks
    /// Of so many months, of which one begins with a month, 1 for January.
    case months(Int, first: Int, form: MonthForm)

    /// How the id of a period of months is made.
    enum MonthForm: Sendable, Hashable {
        /// As in `202601`.
        case month
        /// As in `202601B` for the first two months of a year.
        case twoMonths
        /// As in `2026Q1`, `2026S1` and `2026AprilS1`.
        case numbered(String)
        /// As in `2026` and `2026April`.
        case year(String)
    }

    /// The most periods before today's.
    static let countMax = 400

    /// The type of a data set; nil for one that is not known.
    init?(_ name: String) {
        switch name {
        case "Daily": self = .day
        case "Weekly": self = .week(first: 0, name: "W")
        case "WeeklyWednesday": self = .week(first: 2, name: "WedW")
        case "WeeklyThursday": self = .week(first: 3, name: "ThuW")
        case "WeeklySaturday": self = .week(first: 5, name: "SatW")
        case "WeeklySunday": self = .week(first: 6, name: "SunW")
        case "BiWeekly": self = .twoWeeks
        case "Monthly": self = .months(1, first: 1, form: .month)
        case "BiMonthly": self = .months(2, first: 1, form: .twoMonths)
        case "Quarterly": self = .months(3, first: 1, form: .numbered("Q"))
        case "SixMonthly": self = .months(6, first: 1, form: .numbered("S"))
        case "SixMonthlyApril": self = .months(6, first: 4, form: .numbered("AprilS"))
        case "Yearly": self = .months(12, first: 1, form: .year(""))
        case "FinancialApril": self = .months(12, first: 4, form: .year("April"))
        case "FinancialJuly": self = .months(12, first: 7, form: .year("July"))
        case "FinancialOct": self = .months(12, first: 10, form: .year("Oct"))
        default: return nil
        }
    }

    /// How many periods before today's are asked for where the list names no number.
    var usualCount: Int {
        switch self {
        case .day: 60
        case .week, .twoWeeks: 13
        case .months(1, _, _): 12
        case .months(2, _, _): 6
        case .months: 5
        }
    }

    /// The ids of the periods from so many before today's to so many after it.
    func ids(around today: Dhis2Day, back: Int, ahead: Int) -> [String] {
        (-back...ahead).map { id(today, $0) }
    }

    /// The id of the period that is so many after the one of a day.
    private func id(_ today: Dhis2Day, _ count: Int) -> String {
        switch self {
        case .day:
            return Dhis2Day(number: today.number + Int64(count)).text.filter { $0 != "-" }
        case .week(let first, let name):
            let start = Dhis2Day(number: today.weekStart(first).number + 7 * Int64(count))
            let week = start.week
            return "\(week.year)\(name)\(week.number)"
        case .twoWeeks:
            let start = today.twoWeekStart
            let week = Dhis2Day(number: start.number + 14 * Int64(count)).twoWeekStart.week
            return "\(week.year)BiW\((week.number + 1) / 2)"
        case .months(let length, let first, let form):
            // Months since the first month of the year 0 that begins a period.
            let number = today.year * 12 + today.month - first
            let period = number.floored(by: length) + count
            let month = period * length + first - 1
            let (year, place) = (month.floored(by: 12), month - month.floored(by: 12) * 12)
            let ofYear = period - period.floored(by: 12 / length) * (12 / length) + 1
            switch form {
            case .month: return "\(year)\(place < 9 ? "0" : "")\(place + 1)"
            case .twoMonths: return "\(year)0\(ofYear)B"
            case .numbered(let name):
                return "\(period.floored(by: 12 / length))\(name)\(ofYear)"
            case .year(let name): return "\(year)\(name)"
            }
        }
    }
}

extension Int {
    /// The whole part of a quotient, rounded down.
    fileprivate func floored(by divisor: Int) -> Int {
        (self - ((self % divisor) + divisor) % divisor) / divisor
    }
}

extension Dhis2Day {
    /// As in `2026-03-10`.
    var text: String { String(start.description.prefix(10)) }

    fileprivate var year: Int { Int(text.prefix(4)) ?? 0 }
    fileprivate var month: Int { Int(text.dropFirst(5).prefix(2)) ?? 1 }

    /// The same month and day of another year, but for the last day of a February.
    fileprivate func moved(years: Int) -> Dhis2Day {
        let rest = text.dropFirst(4)
        let day = rest == "-02-29" ? "-02-28" : String(rest)
        return Dhis2Day("\(year + years)\(day)") ?? self
    }

    /// The first day of its week, of those that begin with a day: 0 for Monday.
    fileprivate func weekStart(_ first: Int64) -> Dhis2Day {
        // 1970-01-01 was a Thursday.
        Dhis2Day(number: number - ((number + 3 - first) % 7 + 7) % 7)
    }

    /// The number of the week that begins with it, and the year to which that belongs: the one that
    /// has most of its days.
    fileprivate var week: (year: Int, number: Int64) {
        let middle = Dhis2Day(number: number + 3)
        let first = Dhis2Day("\(middle.year)-01-01") ?? middle
        return (middle.year, (middle.number - first.number) / 7 + 1)
    }

    /// The first day of its two weeks, which begin with a week of an odd number.
    fileprivate var twoWeekStart: Dhis2Day {
        let start = weekStart(0)
        return start.week.number % 2 == 1 ? start : Dhis2Day(number: start.number - 7)
    }
}
