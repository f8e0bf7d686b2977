/** The windows a series is cut into. An unknown zone is UTC (§1.2 T3). `billingAnchor` gives a MONTH its day. spec: catalogue-and-metering §7.2 */
export interface SeriesWindows {
  readonly windowSize: string;
  readonly timezone: string;
  readonly billingAnchor: string | null;
}

export interface SeriesWindow {
  /** Beginning of the window by itself, also where the question's interval begins later. */
  readonly start: string;
  readonly from: string;
  readonly to: string;
}
