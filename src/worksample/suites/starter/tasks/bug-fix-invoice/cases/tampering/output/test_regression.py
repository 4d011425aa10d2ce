import invoicer
