package config

func batchSettings() []Setting {
	return []Setting{
		{
			Key:     "batch.max_queued",
			Default: "100",
			Help:    "Analysis jobs of one account that may wait or run; another one is refused with 429.",
			kind:    number(func(c *Config) *int { return &c.Batch.MaxQueued }, 1, 10_000),
		},
		{
			Key:     "batch.max_upload",
			Default: "2GB",
			Help:    "Bytes of the files that are uploaded for one job; 0 is no limit.",
			kind:    size(func(c *Config) *Size { return &c.Batch.MaxUpload }),
		},
		{
			Key:     "batch.keep_sources",
			Default: "false",
			Help: "Keep the files and downloads of a job as long as its results; otherwise they are deleted when it " +
				"ends.",
			kind: boolean(func(c *Config) *bool { return &c.Batch.KeepSources }),
		},
		{
			Key:     "batch.results_days",
			Default: "30",
			Help:    "Days after its end until a job is deleted with its results; 0 is never.",
			kind:    number(func(c *Config) *int { return &c.Batch.ResultsDays }, 0, maxDays),
		},
		{
			Key:     "batch.private_urls",
			Default: "false",
			Help:    "Let jobs fetch URLs from private addresses, such as servers in the box's own network.",
			kind:    boolean(func(c *Config) *bool { return &c.Batch.PrivateURLs }),
		},
	}
}
