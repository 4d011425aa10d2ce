print('malformed\t0')
